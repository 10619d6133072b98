import { globSync } from 'node:fs'

/** The files that the build copies, because the code reads them at run time: all of src but the modules. */
export function assetFiles(): string[] {
  // Only drizzle-kit reads the snapshots.
  const isLeftOut = (name: string): boolean => name.endsWith('.ts') || name.endsWith('_snapshot.json')
  return globSync('src/**/*.*', { exclude: isLeftOut })
}
