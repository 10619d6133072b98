import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import type { Handler } from './answer.ts'

/** The stored picture of the benchmark. */
export const pictureName = `${'0'.repeat(32)}-800.webp`

/** Streams one picture from its file, with the shop's headers. */
export function sendPicture(path: string): Handler {
  return (_, response) => {
    void stat(path).then(({ size }) => {
      response.writeHead(200, {
        'content-type': 'image/webp',
        'cache-control': 'public, max-age=31536000, immutable',
        'x-content-type-options': 'nosniff',
        'cross-origin-resource-policy': 'cross-origin',
        'accept-ranges': 'bytes',
        etag: '"00000000000000000000000000000000-800"',
        'content-length': String(size)
      })
      createReadStream(path).pipe(response)
    })
  }
}
