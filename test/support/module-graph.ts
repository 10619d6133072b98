import { globSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'
import ts from 'typescript'

/** One source file as the architecture rules see it. */
export type Module = {
  /** Path below src, with forward slashes: `shop/orders/view.ts`. */
  path: string
  /** Files in src that it imports, including type imports. */
  imports: string[]
  /** Those of `imports` that exist at run time, without type imports. */
  valueImports: string[]
  packages: string[]
  /** It declares nothing and only re-exports. */
  onlyHandsOn: boolean
  readsEnvironment: boolean
  /** It reads a database connection's `orm` or `sqlite`. */
  usesConnection: boolean
  /** It prepares or runs SQL that it states as text. */
  usesRawSql: boolean
  /** It uses the standard streams, the signals or the exit code of its process. */
  usesProcess: boolean
  /** It has a statement that runs on import and is not a declaration. */
  runsOnImport: boolean
}

/** Parses the files of a folder that match a pattern. */
export function readModules(folder: string, pattern = '**/*.ts'): Module[] {
  return globSync(pattern, { cwd: folder })
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => !path.endsWith('.d.ts'))
    .toSorted()
    .map((path) => readModule(path, readFileSync(posix.join(folder, path), 'utf8')))
}

/** Parses one source file. */
export function readModule(path: string, source: string): Module {
  const file = ts.createSourceFile(path, source, ts.ScriptTarget.ESNext, true)
  const specifiers = new Set<string>()
  const values = new Set<string>()
  let readsEnvironment = false
  let usesConnection = false
  const visit = (node: ts.Node): void => {
    const specifier = specifierOf(node)
    if (specifier !== undefined) specifiers.add(specifier)
    if (specifier !== undefined && !isTypeImport(node)) values.add(specifier)
    if (isEnvironment(node)) readsEnvironment = true
    if (isConnection(node)) usesConnection = true
    ts.forEachChild(node, visit)
  }
  visit(file)
  const all = [...specifiers]
  const resolve = (specifier: string): string => posix.join(posix.dirname(path), specifier)
  return {
    path,
    imports: all.filter(isRelative).map(resolve),
    valueImports: [...values].filter(isRelative).map(resolve),
    packages: all.filter((specifier) => !isRelative(specifier)).map(packageOf),
    onlyHandsOn: file.statements.length > 0 && file.statements.every(handsOn),
    readsEnvironment,
    usesConnection,
    usesRawSql:
      /\brawStatement[<(]|\.(prepare|exec|pragma)(<[^(]*>)?\(['"`\w]/.test(source) &&
      /sqlite|rawStatement/i.test(source),
    usesProcess: /\bprocess\.(std(in|out|err)|exit|exitCode|on|once)\b/.test(source),
    runsOnImport: file.statements.some(ts.isExpressionStatement)
  }
}

/** The module that a node imports: a declaration, `import('…')` as a call, or `import('…')` as a type. */
function specifierOf(node: ts.Node): string | undefined {
  if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return textOf(node.moduleSpecifier)
  if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) return textOf(node.argument.literal)
  if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword)
    return textOf(node.arguments[0])
  return undefined
}

function isTypeImport(node: ts.Node): boolean {
  if (ts.isImportDeclaration(node)) return node.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword
  return ts.isImportTypeNode(node) || (ts.isExportDeclaration(node) && node.isTypeOnly)
}

function textOf(node: ts.Node | undefined): string | undefined {
  return node !== undefined && ts.isStringLiteralLike(node) ? node.text : undefined
}

function isRelative(specifier: string): boolean {
  return specifier.startsWith('.')
}

function packageOf(specifier: string): string {
  const [scope = '', name = ''] = specifier.split('/')
  return scope.startsWith('@') ? `${scope}/${name}` : scope
}

function handsOn(statement: ts.Statement): boolean {
  return ts.isImportDeclaration(statement) || ts.isExportDeclaration(statement) || ts.isExportAssignment(statement)
}

function isEnvironment(node: ts.Node): boolean {
  return ts.isPropertyAccessExpression(node) && node.getText() === 'process.env'
}

function isConnection(node: ts.Node): boolean {
  return ts.isPropertyAccessExpression(node) && (node.name.text === 'orm' || node.name.text === 'sqlite')
}
