import { mkdirSync, readdirSync, writeFileSync, globSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { AppError } from '../../errors.ts'
import { packageVersion, buildFlavor, packageRoot } from '../../platform/package-root.ts'
import { codeOf } from '../../platform/typed.ts'

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
    const code = codeOf(error)
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

/** The starters of `shopstead create`, and what each is. */
export const starters = {
  plain: 'TypeScript that Node.js runs without a build step: the demo storefront as a site of its own',
  next: 'Next.js with the App Router'
} as const

export type StarterName = keyof typeof starters

/** Where the files of a starter are in a checkout, and the folder that they get in the site. */
type Source = { from: string; files: string; to: string }

const sources: Readonly<Record<StarterName, readonly Source[]>> = {
  // The demo storefront has one source, so a starter cannot be an outdated copy of it.
  plain: [
    { from: 'seeds/starters/plain', files: '**/*', to: '' },
    { from: 'src/pages/storefront', files: '**/*.ts', to: 'storefront' },
    { from: 'src/platform/texts', files: '**/*.ts', to: 'texts' },
    { from: 'src/pages/assets', files: '!(invoice).*', to: 'assets' },
    { from: 'src/pages/templates', files: '!(checkout|desk*|invoice|order-status).eta', to: 'templates' }
  ],
  next: [{ from: 'seeds/starters/next', files: '**/*', to: '' }]
}

/** npm does not pack files with these names as they are. */
const packedNames: Readonly<Record<string, string>> = { gitignore: '.gitignore', 'env.example': '.env.example' }

/**
 * The files of a starter by their path in the site. The build stores them in dist/starters, where the published package,
 * which has no sources, reads them.
 */
export function readStarter(name: StarterName): Map<string, Buffer> {
  const stored: Source = { from: `dist/starters/${name}`, files: '**/*', to: '' }
  return new Map((buildFlavor === 'dist' ? [stored] : sources[name]).flatMap(filesOf))
}

/** The name that a file of a starter has in a site. */
function nameInSite(path: string): string {
  return packedNames[path] ?? path
}

function filesOf({ from, files, to }: Source): [path: string, content: Buffer][] {
  const folder = join(packageRoot, from)
  return globSync(files, { cwd: folder, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => {
      const file = join(entry.parentPath, entry.name)
      const path = join(to, file.slice(folder.length + 1)).replaceAll('\\', '/')
      return [path, forSite(path, readFileSync(file))]
    })
}

/**
 * The storefront imports the client by its place in this repository, and a site by the name of its package. The texts are
 * beside the storefront in a site.
 */
function forSite(path: string, content: Buffer): Buffer {
  if (!/^(storefront|assets)\/.*\.(ts|js)$/.test(path)) return content
  // Browsers do not know the names of packages. The site's server has the client in this folder.
  const client = path.startsWith('assets/') ? '/client/client.js' : '@shopstead/client'
  const text = content
    .toString('utf8')
    .replaceAll(/(?<=\bfrom ')\.\.\/(?:\.\.\/)+client\/[\w-]+\.ts(?=')/g, client)
    .replaceAll("from '../../platform/texts/", "from '../texts/")
    .replaceAll(/(?<=\bimport\(')\.\.\/(?:\.\.\/)+client\/[\w-]+\.ts(?='\))/g, '@shopstead/client')
  return Buffer.from(text)
}
