import { readFileSync } from 'node:fs'

const headerBytes = 32
const frameHeaderBytes = 24

/** The write-ahead log of SQLite as a file (sqlite.org/fileformat2.html, section 4). */
export type LogFile = {
  bytes: Buffer
  /** Changes with each round: a log that was folded in is written anew from its beginning. */
  round: string
  /** Where each committed transaction ends, in bytes; what is behind the last one is left over from earlier rounds. */
  commits: number[]
  framesAt(offset: number): number
}

export function readLog(file: string): LogFile {
  const bytes = readFileSync(file)
  const frameBytes = frameHeaderBytes + bytes.readUInt32BE(8)
  const salts = bytes.subarray(16, 24)
  const commits: number[] = []
  for (let at = headerBytes; at + frameBytes <= bytes.length; at += frameBytes) {
    // Frames of an earlier round carry other salts: here the log ends.
    if (!bytes.subarray(at + 8, at + 16).equals(salts)) break
    // The frame that commits says how many pages the database has from then on.
    if (bytes.readUInt32BE(at + 4) > 0) commits.push(at + frameBytes)
  }
  return {
    bytes,
    round: salts.toString('hex'),
    commits,
    framesAt: (offset) => Math.max(0, (offset - headerBytes) / frameBytes)
  }
}
