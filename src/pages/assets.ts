import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { assetPath } from '../platform/package-root.ts'

const files = { style: 'style.css', icon: 'lantern.svg' } as const
const types: Readonly<Record<string, string>> = { css: 'text/css; charset=utf-8', svg: 'image/svg+xml' }

export type Assets = {
  /** Address of each, which changes with its content. */
  readonly urls: Readonly<Record<keyof typeof files, string>>
  /** Undefined for a path that is none of theirs. */
  find(path: string): Response | undefined
}

/** Style and icon of the pages: their addresses carry a digest, so that browsers may keep them for ever. */
export function loadAssets(): Assets {
  const byPath = new Map<string, { body: Buffer<ArrayBuffer>; type: string }>()
  const load = (file: string): string => {
    const body = readFileSync(assetPath('pages', 'assets', file))
    const [name = '', ending = ''] = file.split('.')
    const path = `/assets/${name}-${hash('sha256', body, 'hex').slice(0, 12)}.${ending}`
    byPath.set(path, { body, type: types[ending] ?? 'application/octet-stream' })
    return path
  }
  return {
    urls: { style: load(files.style), icon: load(files.icon) },
    find(path) {
      const asset = byPath.get(path)
      if (asset === undefined) return undefined
      return new Response(asset.body, {
        headers: {
          'content-type': asset.type,
          'cache-control': 'public, max-age=31536000, immutable',
          'x-content-type-options': 'nosniff'
        }
      })
    }
  }
}
