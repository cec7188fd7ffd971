import type { ScreenProps } from "~/screens";
import { FilePage } from "./file";
import { Folder } from "./folder";

export default function Files({ rest, query }: ScreenProps) {
  const folder = rest.join("/");
  const file = query.get("file");
  return file ? <FilePage key={`${folder}/${file}`} folder={folder} name={file} /> : <Folder key={folder} path={folder} />;
}
