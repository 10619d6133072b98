import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { buildFlavor, packageRoot } from '../../platform/package-root.ts'

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
    { from: 'src/pages/assets', files: '!(invoice).*', to: 'assets' },
    { from: 'src/pages/templates', files: '{field,shipping,storefront/*}.eta', to: 'templates' }
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
export function nameInSite(path: string): string {
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

/** The storefront imports the client by its place in this repository, and a site by the name of its package. */
function forSite(path: string, content: Buffer): Buffer {
  if (!/^(storefront|assets)\/.*\.(ts|js)$/.test(path)) return content
  // Browsers do not know the names of packages. The site's server has the client in this folder.
  const client = path.startsWith('assets/') ? '/client/client.js' : '@shopstead/client'
  const text = content
    .toString('utf8')
    .replaceAll(/(?<=\bfrom ')\.\.\/(?:\.\.\/)+client\/[\w-]+\.ts(?=')/g, client)
    .replaceAll(/(?<=\bimport\(')\.\.\/(?:\.\.\/)+client\/[\w-]+\.ts(?='\))/g, '@shopstead/client')
  return Buffer.from(text)
}
