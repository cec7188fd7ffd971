import type { ScreenProps } from "~/screens";
import { FilePage } from "./file";
import { Folder } from "./folder";
import { placeIn } from "./models";

export default function Files({ rest, query }: ScreenProps) {
  const folder = rest.join("/");
  const file = query.get("file");
  return file ? <FilePage key={`${folder}/${file}`} folder={folder} name={file} at={placeIn(query)} /> : <Folder key={folder} path={folder} />;
}
