import { deepStrictEqual } from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { compare } from '../measure/compare.ts'
import { pictureName } from '../reference/picture.ts'
import type { Row } from './row.ts'

/** The size of a photo that is 800 pixels wide. */
const photoBytes = 60_000

export const pictureRow: Row = {
  name: 'picture',
  about: 'GET /media/{hash}-800.webp, 60 KB',
  async measure(context) {
    const servers = await context.servers('manual')
    const folder = join(servers.data.dataDir, 'media')
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, pictureName), randomBytes(photoBytes))
    const path = `/media/${pictureName}`
    const sides = [servers.shop(path), servers.reference(path)] as const
    const [sent, expected] = await Promise.all(sides.map(async ({ url }) => (await fetch(url)).bytes()))
    deepStrictEqual(expected, sent, 'the reference sends another picture')
    const [shop, reference] = await compare(...sides, context.rounds)
    const against = 'the same file as a stream'
    return [{ kind: 'comparison', name: this.about, against, target: 0.9, serves: 'pictures', shop, reference }]
  }
}
