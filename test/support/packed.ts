import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** The package as npm installs it: built, packed, and installed into an empty folder. */
export type Packed = {
  /** The outer folder, for files that a test keeps beside the installation. */
  folder: string
  /** The folder of the installation, the root of a site that uses the package. */
  home: string
  /** The installed package. */
  installed: string
  /** `bin/shopstead.js` of the installed package. */
  program: string
  files: string[]
  /** The packed file. */
  tarball: string
  remove(): void
}

type PackAnswer = [{ filename: string; files: { path: string }[] }]

/** Builds, packs and installs this checkout, which takes half a minute. */
export function installPacked(): Packed {
  const folder = mkdtempSync(join(tmpdir(), 'shopstead-package-'))
  const home = join(folder, 'home')
  const installed = join(home, 'node_modules', 'shopstead')
  mkdirSync(home)
  const tarball = pack(process.cwd(), folder)
  install(home, tarball.file)
  return {
    folder,
    home,
    installed,
    program: join(installed, 'bin', 'shopstead.js'),
    files: tarball.files,
    tarball: tarball.file,
    remove: () => rmSync(folder, { recursive: true, force: true })
  }
}

/** The packages for sites that the build has made beside the bundle, packed: each tarball by the name of its package. */
export function packSitePackages({ folder }: Packed): Record<'@shopstead/client' | '@shopstead/proxy', Tarball> {
  return { '@shopstead/client': pack('dist/client', folder), '@shopstead/proxy': pack('dist/proxy', folder) }
}

export type Tarball = { file: string; files: string[] }

function pack(cwd: string, folder: string): Tarball {
  // The output of a build would precede the JSON.
  const args = ['pack', '--json', '--foreground-scripts=false', '--pack-destination', folder]
  const [{ filename, files }] = JSON.parse(npm(args, cwd)) as PackAnswer
  return { file: join(folder, filename), files: files.map(({ path }) => path) }
}

/** Installs packages into a folder. */
export function install(folder: string, ...packages: string[]): void {
  npm(['install', ...packages, '--no-audit', '--no-fund', '--prefer-offline'], folder)
}

function npm(args: string[], cwd: string): string {
  return execFileSync('npm', args, { cwd, encoding: 'utf8', stdio: 'pipe' })
}
