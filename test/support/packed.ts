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
  remove(): void
}

type PackAnswer = [{ filename: string; files: { path: string }[] }]

/** Builds, packs and installs this checkout, which takes half a minute. */
export function installPacked(): Packed {
  const folder = mkdtempSync(join(tmpdir(), 'shopstead-package-'))
  const home = join(folder, 'home')
  const installed = join(home, 'node_modules', 'shopstead')
  mkdirSync(home)
  // The output of the build would precede the JSON.
  const pack = ['pack', '--json', '--foreground-scripts=false', '--pack-destination', folder]
  const [tarball] = JSON.parse(npm(pack, process.cwd())) as PackAnswer
  npm(['install', join(folder, tarball.filename), '--no-audit', '--no-fund', '--prefer-offline'], home)
  return {
    folder,
    home,
    installed,
    program: join(installed, 'bin', 'shopstead.js'),
    files: tarball.files.map(({ path }) => path),
    remove: () => rmSync(folder, { recursive: true, force: true })
  }
}

function npm(args: string[], cwd: string): string {
  return execFileSync('npm', args, { cwd, encoding: 'utf8', stdio: 'pipe' })
}
