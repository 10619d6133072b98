import { unzipSync } from 'fflate'
import { describe, expect, it } from 'vitest'
import { zipStream } from '../../src/operations/zip.ts'
import type { ZipFile } from '../../src/operations/zip.ts'

const modifiedAt = Date.UTC(2026, 10, 27, 9)
const file = (name: string, content: string): ZipFile => ({
  name,
  content: new TextEncoder().encode(content),
  modifiedAt
})

async function bytesOf(stream: ReadableStream<Uint8Array>): Promise<Uint8Array> {
  return new Response(stream).bytes()
}

async function* some(files: readonly ZipFile[]): AsyncGenerator<ZipFile, void> {
  for (const each of files) yield await Promise.resolve(each)
}

describe('a ZIP archive', () => {
  it('holds the files that went into it, with names in any script', async () => {
    const files = [file('2026-1.pdf', 'one'), file('Größe+2.pdf', 'zwei'), file('empty.csv', '')]
    const read = unzipSync(await bytesOf(zipStream(some(files))))
    const texts = Object.entries(read).map(([name, content]) => [name, new TextDecoder().decode(content)])
    expect(texts).toEqual(files.map(({ name, content }) => [name, new TextDecoder().decode(content)]))
  })

  it('is an empty archive without files', async () => {
    expect(unzipSync(await bytesOf(zipStream(some([]))))).toEqual({})
  })

  it('asks for the next file when the reader has taken the one before, and ends with a reader who goes away', async () => {
    const asked: number[] = []
    let isOver = false
    async function* endless(): AsyncGenerator<ZipFile, void> {
      try {
        for (let number = 1; ; number += 1) {
          asked.push(number)
          yield await Promise.resolve(file(`${number}.txt`, 'x'.repeat(1000)))
        }
      } finally {
        isOver = true
      }
    }
    const reader = zipStream(endless()).getReader()
    expect(asked).toEqual([])
    for (let part = 0; part < 4; part += 1) await reader.read()
    expect(asked.length).toBeLessThanOrEqual(3)
    await reader.cancel()
    expect(isOver).toBe(true)
  })

  it('breaks off when a file cannot be made', async () => {
    async function* failing(): AsyncGenerator<ZipFile, void> {
      yield await Promise.resolve(file('1.txt', 'x'))
      throw new Error('the font is gone')
    }
    await expect(bytesOf(zipStream(failing()))).rejects.toThrow('the font is gone')
  })
})
