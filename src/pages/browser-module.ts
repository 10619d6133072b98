import { existsSync, readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'

const imports = /(?<=\b(?:from|import) ['"])\.[^'"]+(?=['"])/g
/** Maps stay behind: their addresses would lead nowhere. */
const mapAddress = /^\/\/# sourceMappingURL=.*$/m

/**
 * A file as browsers are to have it. In a script, what it imports is called by the name that `publish` gives it; one in
 * TypeScript loses its types, or is taken from the JavaScript that the build has made of it.
 */
export function readModule(file: string, publish: (specifier: string) => string): Buffer<ArrayBuffer> {
  if (!/\.(js|ts)$/.test(file)) return readFileSync(file)
  return Buffer.from(readScript(file).replaceAll(imports, publish))
}

function readScript(file: string): string {
  if (file.endsWith('.js')) return readFileSync(file, 'utf8')
  const built = file.replace(/\.ts$/, '.js')
  if (!existsSync(file)) return readFileSync(built, 'utf8').replace(mapAddress, '')
  return withoutWarning(() => stripTypeScriptTypes(readFileSync(file, 'utf8')))
}

/** Node tells on every start that this function is experimental; type stripping itself, which runs this very file, is not. */
function withoutWarning<T>(work: () => T): T {
  const { emitWarning } = process
  process.emitWarning = () => undefined
  try {
    return work()
  } finally {
    process.emitWarning = emitWarning
  }
}
