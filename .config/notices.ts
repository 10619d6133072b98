import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Plugin } from 'rolldown'
import { assetFiles } from './assets.ts'
import { billOfMaterials } from './sbom.ts'

/** The packages whose code or data is in a bundle: folder by name. */
type Bundled = ReadonlyMap<string, string>

/** Writes the licences of the packages whose code or data is bundled, as they require, and the bill of materials. */
export function notices(): Plugin {
  const bundled = new Map(packagesOfData(assetFiles()))
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

/**
 * The packages that the data of assets comes from: a JSON file names its package at the end of its `source`, with the
 * version, as in `sales-tax 2.23.0`.
 *
 * @throws Error when another version of the package is installed
 */
export function packagesOfData(files: readonly string[]): Bundled {
  const sources = files.filter((file) => file.endsWith('.json')).map(sourceOf)
  const named = sources.map((source) => /(\S+) (\d+\.\d+\.\d+)$/.exec(source))
  return new Map(named.flatMap((match) => (match === null ? [] : [[match[1] ?? '', folderOf(match[1], match[2])]])))
}

function sourceOf(file: string): string {
  const { source } = JSON.parse(readFileSync(file, 'utf8')) as { source?: unknown }
  return typeof source === 'string' ? source : ''
}

function folderOf(name = '', version = ''): string {
  const folder = join('node_modules', name)
  if (versionOf(folder) === version) return folder
  throw new Error(`The data of ${name} ${version} is not of the installed ${versionOf(folder)}. Generate it again.`)
}

/** Writes THIRD-PARTY-NOTICES.txt with the licence of each bundled package into a folder. @throws Error when one has none */
export function writeNotices(folder: string, bundled: Bundled): void {
  const texts = [...bundled]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, place]) => `${name} ${versionOf(place)}\n\n${licenceOf(name, place)}`)
  const about =
    "Shopstead's bundle (the JavaScript files in this folder) contains code or data of the following packages."
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
