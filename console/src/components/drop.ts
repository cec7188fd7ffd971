/** Files that are dragged from elsewhere and dropped on a part of the page. */
import { useState } from "preact/hooks";

interface Drop {
  /** True while files are held over it. */
  isOver: boolean;
  /** Handlers of its element. */
  heard: { onDragOver: (event: DragEvent) => void; onDragLeave: () => void; onDrop: (event: DragEvent) => void };
}

/** Take files that are dropped, if `isAllowed`. */
export function useDrop(take: (files: File[]) => void, isAllowed = true): Drop {
  const [isOver, setOver] = useState(false);
  const onDragOver = (event: DragEvent) => {
    if (!isAllowed || !event.dataTransfer?.types.includes("Files")) return;
    event.preventDefault();
    setOver(true);
  };
  const onDrop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    const files = [...(event.dataTransfer?.files ?? [])];
    if (files.length && isAllowed) take(files);
  };
  return { isOver, heard: { onDragOver, onDragLeave: () => setOver(false), onDrop } };
}
