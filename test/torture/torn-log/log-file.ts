import { readFileSync } from 'node:fs'

const headerBytes = 32
const frameHeaderBytes = 24

/** SQLite's write-ahead log file (sqlite.org/fileformat2.html, section 4). */
export type LogFile = {
  bytes: Buffer
  /** The salts, which change whenever a checkpointed log is written from its beginning again. */
  round: string
  /** The offset at which each committed transaction ends. The bytes after the last one are from earlier rounds. */
  commits: number[]
  framesAt(offset: number): number
}

/** Reads a write-ahead log and finds its committed transactions. */
export function readLog(file: string): LogFile {
  const bytes = readFileSync(file)
  const frameBytes = frameHeaderBytes + bytes.readUInt32BE(8)
  const salts = bytes.subarray(16, 24)
  const commits: number[] = []
  for (let at = headerBytes; at + frameBytes <= bytes.length; at += frameBytes) {
    // Frames of an earlier round have other salts, so the log ends here.
    if (!bytes.subarray(at + 8, at + 16).equals(salts)) break
    // Only a commit frame has a non-zero database size.
    if (bytes.readUInt32BE(at + 4) > 0) commits.push(at + frameBytes)
  }
  return {
    bytes,
    round: salts.toString('hex'),
    commits,
    framesAt: (offset) => Math.max(0, (offset - headerBytes) / frameBytes)
  }
}
