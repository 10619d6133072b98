import { existsSync, readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'

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
