type Node = { type: string; [field: string]: unknown }
type Path = { node: Node; key: string | number | null; listKey?: string; parent: Node | null; parentPath: Path | null }

const isText = ({ type }: Node): boolean => type === 'StringLiteral' || type === 'TemplateLiteral'

/** The name of the called function, class or method, such as `AppError` or `warn`; empty for other nodes. */
function calledName(call: Node): string {
  const { type, callee } = call as Node & { callee?: Node & { name?: string; property?: { name?: string } } }
  if (type !== 'NewExpression' && type !== 'CallExpression') return ''
  return callee?.name ?? callee?.property?.name ?? ''
}

/** The text of an error or log line. Tests assert codes, details and fields; the text may change. */
function isSentence({ node, key, parent }: Path): boolean {
  if (!isText(node) || parent === null) return false
  const name = calledName(parent)
  if (name === 'AppError') return key === 1
  return key === 0 && /^(Error|TypeError|DeadlinePassed|debug|info|warn|error)$/.test(name)
}

/** Indexes, checks, references and counters. Migrations create them, and the running shop does not read them. */
function isTableExtra({ node, key, parent }: Path): boolean {
  if (parent === null) return false
  const name = calledName(parent)
  if (node.type === 'ArrowFunctionExpression') return (key === 2 && name === 'sqliteTable') || name === 'references'
  return node.type === 'ObjectExpression' && key === 0 && name === 'primaryKey'
}

/** A column with the name of its property: without a name, drizzle uses the property's. */
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

/** The nodes that Stryker does not mutate, each with the reason for its report. */
export const strykerPlugins = [
  {
    kind: 'Ignore',
    name: 'sentences',
    value: {
      shouldIgnore: (path: Path) => (isSentence(path) ? 'a text for people, which may be reworded' : undefined)
    }
  },
  {
    kind: 'Ignore',
    name: 'table-extras',
    value: {
      shouldIgnore: (path: Path) =>
        isTableExtra(path)
          ? 'migrations create indexes, checks, references and counters; the running shop does not read them'
          : undefined
    }
  },
  {
    kind: 'Ignore',
    name: 'column-names',
    value: {
      shouldIgnore: (path: Path) =>
        isColumnName(path) ? "redundant: without it, drizzle uses the property's name" : undefined
    }
  }
]
