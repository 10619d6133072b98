import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Plugin } from 'rolldown'
import { billOfMaterials } from './sbom.ts'

/** The packages whose code is in a bundle: folder by name. */
type Bundled = ReadonlyMap<string, string>

/** Writes the licences of the bundled packages, as they require, and the bill of materials. */
export function notices(): Plugin {
  const bundled = new Map<string, string>()
  return {
    name: 'shopstead:notices',
    renderChunk(_, { modules }) {
      for (const [name, folder] of packagesOf(Object.keys(modules))) bundled.set(name, folder)
      return null
    },
    writeBundle() {
      const versions = new Map([...bundled].map(([name, folder]) => [name, versionOf(folder)]))
      writeNotices('dist', bundled)
      writeFileSync('dist/sbom.cdx.json', `${JSON.stringify(billOfMaterials(versions), null, 2)}\n`)
    }
  }
}

/** The packages that modules belong to. */
export function packagesOf(modules: readonly string[]): Bundled {
  const found = modules.map((id) => /^(.*[\\/]node_modules[\\/]((?:@[^\\/]+[\\/])?[^\\/]+))[\\/]/.exec(id))
  return new Map(found.flatMap((match) => (match === null ? [] : [[match[2] ?? '', match[1] ?? '']])))
}

/** Writes THIRD-PARTY-NOTICES.txt with the licence of each bundled package into a folder. @throws Error when one has none */
export function writeNotices(folder: string, bundled: Bundled): void {
  const texts = [...bundled]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, place]) => `${name} ${versionOf(place)}\n\n${licenceOf(name, place)}`)
  const about = "Shopstead's bundle (the JavaScript files in this folder) contains code of the following packages."
  writeFileSync(join(folder, 'THIRD-PARTY-NOTICES.txt'), [about, ...texts].join(`\n\n${'-'.repeat(79)}\n\n`))
}

function versionOf(folder: string): string {
  return (JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { version: string }).version
}

/** The licence text of a package. Only drizzle-orm's package lacks it. @throws Error when it has none */
function licenceOf(name: string, folder: string): string {
  if (name === 'drizzle-orm') return readFileSync('.config/licence-drizzle-orm.txt', 'utf8').trim()
  const [file] = globSync('{LICEN[SC]E,licen[sc]e}*', { cwd: folder })
  if (file === undefined) throw new Error(`The bundled package ${name} has no licence file.`)
  return readFileSync(join(folder, file), 'utf8').trim()
}
