import { setImmediate } from 'node:timers/promises'
import { Zip, ZipPassThrough } from 'fflate'

/** A file of an archive. `modifiedAt` is epoch milliseconds, in the years 1980 to 2099. */
export type ZipFile = { name: string; content: Uint8Array; modifiedAt: number }

/**
 * Files as a ZIP archive. The next file is asked for when the reader has taken the one before, so an archive of any size
 * needs the memory of a file. The files are stored as they are: PDFs are compressed already. Archives end at 4 GiB and 65,535
 * files (fflate has no Zip64).
 *
 * @param files ended early when the reader goes away; its error breaks the stream off
 */
export function zipStream(files: AsyncGenerator<ZipFile, void>): ReadableStream<Uint8Array> {
  const parts: Uint8Array[] = []
  const archive = new Zip((error, part) => {
    if (error !== null) throw error
    parts.push(part)
  })
  return new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        // Others get their turn between two files.
        await setImmediate()
        const next = await files.next()
        if (next.done === true) archive.end()
        else addFile(archive, next.value)
        for (const part of parts.splice(0)) controller.enqueue(part)
        if (next.done === true) controller.close()
      },
      cancel: async () => {
        await files.return()
      }
    },
    { highWaterMark: 0 }
  )
}

function addFile(archive: Zip, { name, content, modifiedAt }: ZipFile): void {
  const file = new ZipPassThrough(name)
  file.mtime = modifiedAt
  archive.add(file)
  file.push(content, true)
}
