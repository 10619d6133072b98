import { hash as digest } from 'node:crypto'
import { mkdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { syncFolderOf, syncToDisk, deleteUnfinished, unfinishedPath } from '../../../platform/files.ts'
import type { EncodedPicture } from '../../../platform/pictures/encode-picture.ts'
import { widthsOf } from '../../../platform/pictures/encode-picture.ts'
import { BoundedCache } from '../cached-responses.ts'
import type { Tx } from '../../../platform/db/database.ts'
import { rawStatement } from '../../../platform/db/database.ts'

const filePattern = /^\/media\/([0-9a-f]{32}-\d{1,4})\.webp$/

/** The name under which a picture is stored: the beginning of the SHA-256 of its original file. */
export function mediaHashOf(original: Uint8Array): string {
  return digest('sha256', original, 'hex').slice(0, 32)
}

/** Writes the files of a picture. A name always has the same content, so writing it again changes nothing. */
export function writeMediaFiles(dataDir: string, hash: string, { files }: EncodedPicture): void {
  const folder = join(dataDir, 'media')
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  for (const { width, bytes } of files) {
    const file = join(folder, `${hash}-${width}.webp`)
    const draft = unfinishedPath(folder)
    try {
      writeFileSync(draft, bytes, { mode: 0o600 })
      syncToDisk(draft)
      renameSync(draft, file)
    } catch (error) {
      rmSync(draft, { force: true })
      throw error
    }
  }
  syncFolderOf(join(folder, hash))
}

/** Deletes what killed processes left half written. */
export function deleteUnfinishedMedia(dataDir: string): void {
  deleteUnfinished(join(dataDir, 'media'))
}

type StoredPicture = { hash: string; width: number }

/** The names of a picture's files in the folder media. */
export function mediaFileNames({ hash, width }: StoredPicture): string[] {
  return widthsOf(width).map((each) => `${hash}-${each}.webp`)
}

/** Whether all files of a picture are there. One without content, as a full disk leaves it, counts as missing. */
export function hasMediaFiles(dataDir: string, picture: StoredPicture): boolean {
  return mediaFileNames(picture).every(
    (name) => (statSync(join(dataDir, 'media', name), { throwIfNoEntry: false })?.size ?? 0) > 0
  )
}

/** Deletes the files of a picture that no product shows any more. */
export function deleteMediaFiles(dataDir: string, picture: StoredPicture): void {
  for (const name of mediaFileNames(picture)) rmSync(join(dataDir, 'media', name), { force: true })
}

export type MediaFile = { path: string; sizeBytes: number; etag: string; bytes: Buffer<ArrayBuffer> }

/**
 * The files that were served last. They never change, because an address always has the same content. Reading a file takes
 * four times the CPU time of the rest of a response.
 */
const served = new BoundedCache<MediaFile>(16 * 1024 * 1024, ({ sizeBytes }) => sizeBytes + 200)

/** The file for the address `/media/{hash}-{width}.webp`; undefined if there is none, or one without content. */
export async function findMediaFile(dataDir: string, address: string): Promise<MediaFile | undefined> {
  const name = filePattern.exec(address)?.[1]
  if (name === undefined) return undefined
  const path = join(dataDir, 'media', `${name}.webp`)
  const known = served.get(path)
  if (known !== undefined) return known
  const bytes = await readFile(path).catch(() => undefined)
  if (bytes === undefined || bytes.length === 0) return undefined
  const file = { path, sizeBytes: bytes.length, etag: `"${name}"`, bytes }
  served.set(path, file)
  return file
}

const deleteUnused = rawStatement<[number], { hash: string; width: number }>(`
  DELETE FROM media WHERE hash IN (
    SELECT hash FROM media WHERE NOT EXISTS (SELECT 1 FROM product_images WHERE media_hash = media.hash) LIMIT ?
  ) RETURNING hash, width`)

/**
 * Deletes the stored pictures that no product shows, at most `limit`, with their files. Returns their number. The files go
 * within the transaction: after it, another process may have stored the same picture again.
 */
export function purgeMedia(tx: Tx, dataDir: string, limit: number): number {
  const unused = deleteUnused(tx).all(limit)
  for (const picture of unused) deleteMediaFiles(dataDir, picture)
  return unused.length
}
