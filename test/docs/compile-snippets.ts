import { globSync, readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import ts from 'typescript'

/** The files of the package whose types sites use. */
const shipped = [
  ...globSync('src/client/*.ts').map((file) => file.replaceAll('\\', '/').slice('src/'.length, -'.ts'.length)),
  'testing/testing',
  'testing/types',
  'proxy/proxy',
  'proxy/upstream',
  'proxy/node'
]

/** The settings of a site's compiler that change what its code means. */
export type SiteSettings = { strict: boolean; resolution: 'nodenext' | 'bundler' }

const common: ts.CompilerOptions = {
  allowJs: true,
  checkJs: true,
  noEmit: true,
  skipLibCheck: true,
  target: ts.ScriptTarget.ES2024,
  lib: ['lib.es2024.d.ts', 'lib.dom.d.ts'],
  types: ['node'],
  paths: {
    'shopstead/client': [resolve('types/client/client.d.ts')],
    'shopstead/testing': [resolve('types/testing/testing.d.ts')],
    'shopstead/webhooks': [resolve('types/client/webhooks.d.ts')],
    'shopstead/proxy': [resolve('types/proxy/proxy.d.ts')],
    'shopstead/proxy/node': [resolve('types/proxy/node.d.ts')],
    '@shopstead/client': [resolve('types/client/client.d.ts')],
    '@shopstead/client/webhooks': [resolve('types/client/webhooks.d.ts')],
    '@shopstead/proxy': [resolve('types/proxy/proxy.d.ts')],
    '@shopstead/proxy/node': [resolve('types/proxy/node.d.ts')]
  }
}

function optionsOf({ strict, resolution }: SiteSettings): ts.CompilerOptions {
  const isNode = resolution === 'nodenext'
  return {
    ...common,
    strict,
    module: isNode ? ts.ModuleKind.NodeNext : ts.ModuleKind.ESNext,
    moduleResolution: isNode ? ts.ModuleResolutionKind.NodeNext : ts.ModuleResolutionKind.Bundler
  }
}

/** Source files by name, because parsing the libraries takes longer than checking the snippets. */
const parsed = new Map<string, ts.SourceFile>()

/**
 * Type-checks snippets as modules of a site that has the package installed.
 *
 * @param snippets code by file name
 * @returns the errors, each as `file:line message`
 */
export function compileErrors(
  snippets: Readonly<Record<string, string>>,
  settings: SiteSettings = { strict: true, resolution: 'nodenext' }
): string[] {
  const options = optionsOf(settings)
  const texts = new Map(
    Object.entries({
      ...snippets,
      'frameworks.d.ts': readFileSync('test/docs/frameworks.d.ts', 'utf8'),
      ...Object.fromEntries(shipped.map((file) => [`types/${file}.d.ts`, declarationOf(`src/${file}.ts`)]))
    }).map(([name, text]) => [resolve(name), text])
  )
  const folders = new Set([...texts.keys()].map(dirname))
  const host = ts.createCompilerHost(options)
  const program = ts.createProgram({
    rootNames: [...Object.keys(snippets), 'frameworks.d.ts'].map((name) => resolve(name)),
    options,
    host: {
      ...host,
      fileExists: (name) => texts.has(name) || host.fileExists(name),
      readFile: (name) => texts.get(name) ?? host.readFile(name),
      directoryExists: (name) => folders.has(name) || ts.sys.directoryExists(name),
      getSourceFile: (name, version) => {
        const text = texts.get(name)
        if (text !== undefined) return ts.createSourceFile(name, text, version)
        const source = parsed.get(name) ?? host.getSourceFile(name, version)
        if (source !== undefined && name.includes('/typescript/lib/')) parsed.set(name, source)
        return source
      }
    }
  })
  return Object.keys(snippets).flatMap((name) => {
    const source = program.getSourceFile(resolve(name))
    const found = [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)]
    return found.map(({ start = 0, messageText }) => {
      const line = (source?.getLineAndCharacterOfPosition(start).line ?? 0) + 1
      return `${name}:${line} ${ts.flattenDiagnosticMessageText(messageText, ' ')}`
    })
  })
}

/** The types of a file as the package ships them. */
function declarationOf(file: string): string {
  const compilerOptions = { target: ts.ScriptTarget.ES2024, module: ts.ModuleKind.NodeNext, strict: true }
  const { outputText } = ts.transpileDeclaration(readFileSync(file, 'utf8'), { fileName: file, compilerOptions })
  return outputText.replaceAll(/(from '\.[^']*)\.ts'/g, "$1.js'")
}
