import { hash } from 'node:crypto'
import { join, posix } from 'node:path'
import { assetPath } from '../platform/package-root.ts'
import { acceptedEncoding, compressed } from '../platform/http/compression.ts'
import type { Encoding } from '../platform/http/compression.ts'
import { existsSync, readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'

/** What templates name. The files import or refer to all others. */
export type AssetName =
  | 'style'
  | 'invoiceStyle'
  | 'icon'
  | 'enhance'
  | 'offers'
  | 'product'
  | 'shell'
  | 'copy-link'
  | 'passkey'

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
  const addressOf = (file: string): string => publish(posix.join('pages/assets', file)).path
  const urls = {
    style: addressOf('style.css'),
    invoiceStyle: addressOf('invoice.css'),
    icon: addressOf('shop.svg'),
    enhance: addressOf('enhance.js'),
    offers: addressOf('offers.js'),
    product: addressOf('product.js'),
    shell: addressOf('shell.js'),
    'copy-link': addressOf('copy-link.js'),
    passkey: addressOf('passkey.js')
  }
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

const imports = /(?<=\b(?:from|import) ['"])\.[^'"]+(?=['"])/g
/** The link to a source map, which is removed because the map is not served. */
const mapAddress = /^\/\/# sourceMappingURL=.*$/m
const docstrings = /^[ \t]*\/\*\*[^]*?\*\/[ \t]*\n/gm

/**
 * The content of a file for browsers. A script imports other files by the names that `publish` returns. TypeScript loses
 * its types, or the JavaScript that the build has generated from it is used. Docstrings are left out.
 */
export function readModule(file: string, publish: (specifier: string) => string): Buffer<ArrayBuffer> {
  if (!/\.(js|ts)$/.test(file)) return readFileSync(file)
  return Buffer.from(readScript(file).replaceAll(docstrings, '').replaceAll(imports, publish))
}

function readScript(file: string): string {
  if (file.endsWith('.js')) return readFileSync(file, 'utf8')
  const built = file.replace(/\.ts$/, '.js')
  if (!existsSync(file)) return readFileSync(built, 'utf8').replace(mapAddress, '')
  return withoutWarning(() => stripTypeScriptTypes(readFileSync(file, 'utf8')))
}

/** Node warns on every start that this function is experimental. Type stripping itself, which runs this file, is stable. */
function withoutWarning<T>(work: () => T): T {
  const { emitWarning } = process
  process.emitWarning = () => undefined
  try {
    return work()
  } finally {
    process.emitWarning = emitWarning
  }
}
