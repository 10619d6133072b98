import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'

const manifest = z.object({ name: z.literal('shopstead'), version: z.string() })

function findRoot(): string {
  let folder = dirname(fileURLToPath(import.meta.url))
  while (!existsSync(join(folder, 'package.json'))) {
    const parent = dirname(folder)
    if (parent === folder) throw new Error('shopstead: no folder above the program contains package.json')
    folder = parent
  }
  return folder
}

/** The package's folder, in a checkout and in an installed package. */
export const packageRoot: string = findRoot()

/** `source` in a checkout, `dist` in the published package, which does not contain src. */
export const buildFlavor: 'source' | 'dist' = fileURLToPath(import.meta.url).startsWith(join(packageRoot, 'src'))
  ? 'source'
  : 'dist'

/** The version in package.json. */
export function packageVersion(): string {
  return manifest.parse(JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8'))).version
}

/** The path of an asset that the code reads at run time. The build copies the assets of src to the same places in dist. */
export function assetPath(...segments: string[]): string {
  return join(packageRoot, buildFlavor === 'source' ? 'src' : 'dist', ...segments)
}

/** The commit of a checkout, or a digest of the published package. Different ids mean different code. */
export function buildId(): string {
  const stamp = join(packageRoot, 'dist', 'build-id')
  if (buildFlavor === 'dist' && existsSync(stamp)) return readFileSync(stamp, 'utf8').trim()
  return commit() ?? `v${packageVersion()}`
}

function commit(): string | undefined {
  const git = join(packageRoot, '.git')
  try {
    const head = readFileSync(join(git, 'HEAD'), 'utf8').trim()
    const ref = /^ref: (.+)$/.exec(head)?.[1]
    return ref === undefined ? head : readFileSync(join(git, ref), 'utf8').trim()
  } catch {
    // Not a checkout, or its refs are packed: buildId uses the version.
    return undefined
  }
}
