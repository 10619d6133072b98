type Node = { type: string; [field: string]: unknown }
type Path = { node: Node; key: string | number | null; listKey?: string; parent: Node | null; parentPath: Path | null }

const isText = ({ type }: Node): boolean => type === 'StringLiteral' || type === 'TemplateLiteral'

/** `AppError`, `log.warn`: what is called, as it is written; empty for anything else. */
function calledName(call: Node): string {
  const { type, callee } = call as Node & { callee?: Node & { name?: string; property?: { name?: string } } }
  if (type !== 'NewExpression' && type !== 'CallExpression') return ''
  return callee?.name ?? callee?.property?.name ?? ''
}

/** The sentence of an error or of a line in the log: tests hold to codes, details and fields, and words may change. */
function isSentence({ node, key, parent }: Path): boolean {
  if (!isText(node) || parent === null) return false
  const name = calledName(parent)
  if (name === 'AppError') return key === 1
  return key === 0 && /^(Error|TypeError|DeadlinePassed|debug|info|warn|error)$/.test(name)
}

/** Indexes, checks, references and counters: migrations have made them, nothing of them is read while the shop runs. */
function isTableExtra({ node, key, parent }: Path): boolean {
  if (parent === null) return false
  const name = calledName(parent)
  if (node.type === 'ArrowFunctionExpression') return (key === 2 && name === 'sqliteTable') || name === 'references'
  return node.type === 'ObjectExpression' && key === 0 && name === 'primaryKey'
}

/** A column that is called as its property is: drizzle takes the property's name where it is given none. */
function isColumnName({ node, key, parentPath }: Path): boolean {
  if (node.type !== 'StringLiteral' || key !== 0) return false
  let above = parentPath
  while (above !== null && /^(CallExpression|MemberExpression)$/.test(above.node.type)) above = above.parentPath
  const isOwnName = (above?.node.key as { name?: string } | undefined)?.name === node.value
  const table = above?.parentPath?.parentPath?.node
  return (
    above?.node.type === 'ObjectProperty' && isOwnName && table !== undefined && calledName(table) === 'sqliteTable'
  )
}

/** What Stryker leaves alone; each with the reason that its report shows. */
export const strykerPlugins = [
  {
    kind: 'Ignore',
    name: 'sentences',
    value: {
      shouldIgnore: (path: Path) => (isSentence(path) ? 'a sentence for people, which may be reworded' : undefined)
    }
  },
  {
    kind: 'Ignore',
    name: 'table-extras',
    value: {
      shouldIgnore: (path: Path) =>
        isTableExtra(path)
          ? 'indexes, checks, references and counters are made by migrations, nothing reads them at run time'
          : undefined
    }
  },
  {
    kind: 'Ignore',
    name: 'column-names',
    value: {
      shouldIgnore: (path: Path) =>
        isColumnName(path) ? "the column's name without this one too: drizzle takes its property's" : undefined
    }
  }
]
