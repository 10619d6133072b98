import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import ts from 'typescript'
import type { Mutant } from './possible.ts'

let service: ts.LanguageService | undefined
let changed: { file: string; text: string } | undefined
let version = 0

/** Whether the compiler refuses a mutant, so that it can't reach a commit. */
export function refusedByTypes({ file, kind, start, end, before, after }: Mutant): boolean {
  const source = readFileSync(file, 'utf8')
  const other = kind === 'guard' ? '(false as boolean)' : kind === 'call' ? ';' : after.replace(/^drizzle\./, '')
  // A swapped function of drizzle has the type of the one it replaces.
  if (kind === 'drizzle') return false
  // The file has changed since the run began, so that nothing can be said.
  if (source.slice(start, end) !== before) return false
  changed = { file: resolve(file), text: source.slice(0, start) + other + source.slice(end) }
  version += 1
  service ??= createService()
  return service.getSemanticDiagnostics(changed.file).length > 0
}

function createService(): ts.LanguageService {
  const { config } = ts.readConfigFile('tsconfig.json', ts.sys.readFile) as { config: unknown }
  const { fileNames, options } = ts.parseJsonConfigFileContent(config, ts.sys, resolve('.'))
  return ts.createLanguageService({
    getCompilationSettings: () => ({ ...options, noUnusedLocals: false, noUnusedParameters: false }),
    getScriptFileNames: () => fileNames.filter((name) => name.includes('/src/')),
    getScriptVersion: (name) => (name === changed?.file ? `changed ${version}` : 'as it is'),
    getScriptSnapshot: (name) => {
      const text = name === changed?.file ? changed.text : ts.sys.readFile(name)
      return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text)
    },
    getCurrentDirectory: () => resolve('.'),
    getDefaultLibFileName: ts.getDefaultLibFilePath,
    fileExists: ts.sys.fileExists,
    readFile: ts.sys.readFile,
    readDirectory: ts.sys.readDirectory,
    directoryExists: ts.sys.directoryExists,
    getDirectories: ts.sys.getDirectories
  })
}
