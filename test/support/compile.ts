import { dirname, resolve } from 'node:path'
import ts from 'typescript'

const root = resolve(import.meta.dirname, '../..')
const options = compilerOptions()
const host = ts.createCompilerHost(options)
const parsed = new Map<string, ts.SourceFile | undefined>()
let previous: ts.Program | undefined

/** A change of one source: in the file at `path`, `text` replaces `instead`. */
export type Edit = { path: string; instead: string; text: string }

/**
 * The type errors of `files` after these edits, which it applies in memory, each as `path: message`. All calls share the
 * parsed unedited files.
 *
 * @param files paths in this repository; errors in the modules that they import are not reported
 * @throws Error for an edit whose text is not found
 */
export function typeErrors(files: readonly string[], edits: readonly Edit[]): string[] {
  const edited = new Map(edits.map(({ path }) => [resolve(root, path), textOf(path, edits)]))
  const rootNames = files.map((path) => resolve(root, path))
  const program = ts.createProgram({
    rootNames,
    options,
    host: {
      ...host,
      readFile: (name) => edited.get(name) ?? host.readFile(name),
      getSourceFile(name, languageVersion) {
        const text = edited.get(name)
        if (text !== undefined) return ts.createSourceFile(name, text, languageVersion)
        if (!parsed.has(name)) parsed.set(name, host.getSourceFile(name, languageVersion))
        return parsed.get(name)
      }
    },
    ...(previous === undefined ? {} : { oldProgram: previous })
  })
  previous = program
  return rootNames.flatMap((name, index) =>
    program
      .getSemanticDiagnostics(program.getSourceFile(name))
      .map(({ messageText }) => `${files[index]}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`)
  )
}

function textOf(path: string, edits: readonly Edit[]): string {
  const before = ts.sys.readFile(resolve(root, path)) ?? ''
  return edits.reduce((text, edit) => {
    if (edit.path !== path) return text
    if (!text.includes(edit.instead)) throw new Error(`${path} does not have "${edit.instead}".`)
    return text.replace(edit.instead, () => edit.text)
  }, before)
}

function compilerOptions(): ts.CompilerOptions {
  const file = resolve(root, 'tsconfig.json')
  const { config } = ts.readConfigFile(file, ts.sys.readFile) as { config: unknown }
  return ts.parseJsonConfigFileContent(config, ts.sys, dirname(file)).options
}
