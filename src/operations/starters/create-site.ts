import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { AppError } from '../../errors.ts'
import { packageVersion } from '../../platform/package-root.ts'
import { nameInSite, readStarter } from './files.ts'
import type { StarterName } from './files.ts'

/**
 * Creates a site from a starter in a folder that does not exist or is empty. It needs no network. The site gets the name
 * of the folder and this version of Shopstead's packages.
 *
 * @returns the paths of the written files, in the folder
 * @throws AppError CONFLICT for a folder with files in it, and for a file in its place
 */
export function createSite(folder: string, starter: StarterName): string[] {
  requireEmpty(folder)
  const files = [...readStarter(starter)].map(([path, content]) => {
    const name = nameInSite(path)
    const target = join(folder, name)
    mkdirSync(dirname(target), { recursive: true })
    writeFileSync(target, path === 'package.json' ? manifestFor(folder, content) : content)
    return name
  })
  return files.toSorted()
}

function requireEmpty(folder: string): void {
  try {
    const [first] = readdirSync(folder)
    if (first === undefined) return
    throw new AppError('CONFLICT', `${folder} is not empty (it contains ${first}). Choose a new folder.`)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return
    if (code === 'ENOTDIR') throw new AppError('CONFLICT', `${folder} is a file. Choose a new folder.`)
    throw error
  }
}

type Dependencies = Record<string, string>

/** The site's package.json: its name, and the version of this package for all packages of Shopstead. */
function manifestFor(folder: string, content: Buffer): string {
  const manifest = JSON.parse(content.toString('utf8')) as {
    dependencies: Dependencies
    devDependencies: Dependencies
  }
  const pinned = (dependencies: Dependencies): Dependencies =>
    Object.fromEntries(
      Object.entries(dependencies).map(([name, version]) => [
        name,
        /^(@shopstead\/|shopstead$)/.test(name) ? packageVersion() : version
      ])
    )
  const { dependencies, devDependencies } = manifest
  const own = { ...manifest, name: packageName(folder), dependencies: pinned(dependencies) }
  return `${JSON.stringify({ ...own, devDependencies: pinned(devDependencies) }, null, 2)}\n`
}

/** A valid name for package.json (https://docs.npmjs.com/cli/configuring-npm/package-json#name). */
function packageName(folder: string): string {
  const name = basename(folder)
    .toLowerCase()
    .replaceAll(/[^a-z0-9._-]+/g, '-')
    .replace(/^[._-]+/, '')
  return name === '' ? 'my-shop' : name.slice(0, 214)
}
