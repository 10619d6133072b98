import { dirname, join, resolve } from 'node:path'
import ts from 'typescript'

const root = resolve(import.meta.dirname, '../..')

/** A change of one source: in the file at `path`, `text` replaces `instead`. */
export type Edit = { path: string; instead: string; text: string }

/** Sources to check. Paths are relative to this repository. */
export type Sources = {
  /** Files to check; errors in the modules that they import are not reported. */
  files: readonly string[]
  /** Edits of the sources that all files see. */
  edits: readonly Edit[]
  /** By name: copies of one file with edits of their own instead of `edits`, which no other file imports. */
  copies: Readonly<Record<string, readonly [Edit, ...Edit[]]>>
}

/**
 * Type-checks sources with edits, which it applies in memory, in one program: parsing takes most of the time.
 *
 * @returns the errors of `files`, each as `path: message`, and those of each copy under its name
 * @throws Error for an edit whose text is not found
 */
export function typeErrors({ files, edits, copies }: Sources): { files: string[]; copies: Record<string, string[]> } {
  const texts = new Map(edits.map(({ path }) => [resolve(root, path), textOf(path, edits)]))
  const copyOf = ([{ path }]: readonly [Edit, ...Edit[]], index: number) =>
    resolve(root, dirname(path), `copy-${index}.ts`)
  for (const [index, copy] of Object.values(copies).entries())
    texts.set(copyOf(copy, index), textOf(copy[0].path, copy))
  const options = compilerOptions()
  const host = ts.createCompilerHost(options)
  const program = ts.createProgram({
    rootNames: [...files.map((path) => join(root, path)), ...Object.values(copies).map(copyOf)],
    options,
    host: {
      ...host,
      readFile: (name) => texts.get(name) ?? host.readFile(name),
      getSourceFile(name, languageVersion) {
        const text = texts.get(name)
        return text === undefined
          ? host.getSourceFile(name, languageVersion)
          : ts.createSourceFile(name, text, languageVersion)
      }
    }
  })
  const errorsOf = (name: string): string[] =>
    program
      .getSemanticDiagnostics(program.getSourceFile(name))
      .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, ' '))
  return {
    files: files.flatMap((path) => errorsOf(join(root, path)).map((message) => `${path}: ${message}`)),
    copies: Object.fromEntries(
      Object.entries(copies).map(([name, copy], index) => [name, errorsOf(copyOf(copy, index))])
    )
  }
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
