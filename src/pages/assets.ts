import { hash } from 'node:crypto'
import { join, posix } from 'node:path'
import { assetPath } from '../platform/package-root.ts'
import { acceptedEncoding, compressed } from './compression.ts'
import type { Encoding } from './compression.ts'
import { readModule } from './browser-module.ts'

/** The files that templates name. They import or refer to all others. */
const entries = {
  style: 'style.css',
  invoiceStyle: 'invoice.css',
  icon: 'shop.svg',
  storefrontStyle: 'storefront.css',
  offers: 'offers.js',
  product: 'product.js',
  shell: 'shell.js',
  'copy-link': 'copy-link.js'
} as const

export type AssetName = keyof typeof entries

const types: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
  js: 'text/javascript; charset=utf-8'
}

export type Assets = {
  /** The address of each file, which changes with its content. */
  readonly urls: Readonly<Record<AssetName, string>>
  /** A script and the scripts that it imports, to be fetched in parallel. */
  modulesOf(name: AssetName): readonly string[]
  /** Undefined for a path that is not an asset. */
  find(path: string, request: Request): Response | undefined
}

type Asset = { path: string; body: Buffer<ArrayBuffer>; type: string; imports: readonly string[] }

let loaded: Assets | undefined

/** Styles, pictures and scripts of the pages. Their addresses contain a digest, so browsers can cache them forever. */
export function loadAssets(): Assets {
  return (loaded ??= readAssets())
}

function readAssets(): Assets {
  const byFile = new Map<string, Asset>()
  const byPath = new Map<string, Asset>()
  /** Imported scripts are published first: their addresses are part of the importing script, and so of its digest. */
  const publish = (file: string): Asset => {
    const known = byFile.get(file)
    if (known !== undefined) return known
    const imports: Asset[] = []
    const ending = file.slice(file.lastIndexOf('.') + 1).replace('ts', 'js')
    const body = readModule(join(assetPath(), file), (specifier) => {
      const imported = publish(posix.join(posix.dirname(file), specifier))
      imports.push(imported)
      return imported.path
    })
    const name = posix.basename(file).replace(/\.\w+$/, '')
    const path = `/assets/${name}-${hash('sha256', body, 'hex').slice(0, 12)}.${ending}`
    const deep = imports.flatMap((asset) => [asset.path, ...asset.imports])
    const asset = { path, body, type: types[ending] ?? 'application/octet-stream', imports: [...new Set(deep)] }
    byFile.set(file, asset)
    byPath.set(path, asset)
    return asset
  }
  const urls = Object.fromEntries(
    Object.entries(entries).map(([name, file]) => [name, publish(posix.join('pages/assets', file)).path])
  ) as Record<AssetName, string>
  return {
    urls,
    modulesOf: (name) => [urls[name], ...(byPath.get(urls[name])?.imports ?? [])],
    find(path, request) {
      const asset = byPath.get(path)
      return asset === undefined ? undefined : answer(asset, acceptedEncoding(request))
    }
  }
}

function answer({ path, body, type }: Asset, encoding: Encoding | null): Response {
  return new Response(encoding === null ? body : compressed(path, body, encoding), {
    headers: {
      'content-type': type,
      'cache-control': 'public, max-age=31536000, immutable',
      'x-content-type-options': 'nosniff',
      vary: 'accept-encoding',
      ...(encoding === null ? {} : { 'content-encoding': encoding })
    }
  })
}
