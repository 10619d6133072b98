import ts from 'typescript'

/** One small fault that the tests should notice. */
export type Possible = {
  file: string
  line: number
  /** The text from `start` to `end` is replaced. */
  start: number
  end: number
  kind: Kind
  before: string
  after: string
  /** It runs while the module is loaded. */
  isStatic: boolean
  /** It starts a statement of a block: the code in parentheses needs a semicolon before it. */
  opensStatement: boolean
}

export type Mutant = Possible & { id: number }

/** How often a sample draws each kind: the faults that people make, and those that cost the most, come more often. */
export const weights = {
  where: 3,
  condition: 3,
  drizzle: 2,
  sql: 3,
  field: 4,
  guard: 4,
  call: 4,
  return: 3,
  logic: 3,
  boundary: 2,
  equality: 2,
  negate: 2,
  arithmetic: 2,
  constant: 2,
  default: 1,
  list: 1,
  rounding: 1
}

export type Kind = keyof typeof weights

const operators: Readonly<Record<string, [Kind, string]>> = {
  '<': ['boundary', '<='],
  '<=': ['boundary', '<'],
  '>': ['boundary', '>='],
  '>=': ['boundary', '>'],
  '===': ['equality', '!=='],
  '!==': ['equality', '==='],
  '&&': ['logic', '||'],
  '||': ['logic', '&&'],
  '+': ['arithmetic', '-'],
  '-': ['arithmetic', '+'],
  '*': ['arithmetic', '/'],
  '/': ['arithmetic', '*'],
  '+=': ['arithmetic', '-=']
}

const opposites: Readonly<Record<string, string>> = {
  eq: 'ne',
  ne: 'eq',
  lt: 'lte',
  lte: 'lt',
  gt: 'gte',
  gte: 'gt',
  asc: 'desc',
  desc: 'asc',
  isNull: 'isNotNull',
  isNotNull: 'isNull',
  inArray: 'notInArray'
}

const mathOpposites: Readonly<Record<string, string>> = {
  min: 'max',
  max: 'min',
  floor: 'ceil',
  ceil: 'floor',
  round: 'floor'
}

/** What is replaced in SQL. A condition ends before the next one, a clause or the end of the text. */
const sqlRules: readonly (readonly [RegExp, string])[] = [
  [/ WHERE [^`']+?(?= (ORDER|GROUP|LIMIT|RETURNING)\b|[`']$)/gi, ''],
  [/ AND [^()`']+?(?= (AND|ORDER|GROUP|LIMIT|RETURNING)\b|\)|[`']$)/gi, ''],
  [/ AND (?=[\w"$])/gi, ' OR '],
  [/ < /g, ' <= '],
  [/ <= /g, ' < '],
  [/ > /g, ' >= '],
  [/ >= /g, ' > '],
  [/ \+ /g, ' - '],
  [/ - /g, ' + '],
  [/ IS NULL/gi, ' IS NOT NULL'],
  [/ IS NOT NULL/gi, ' IS NULL'],
  [/ DESC\b/g, ' ASC']
]

const logging = /^(debug|info|warn|error|log|unref)$/
const writing = /^(insert|update|record|store|create|save|add|emit|enqueue|queue|credit|remember)/i

/** Every fault that this tool can put into a source file, in the order of its text. */
export function possibleMutants(file: string, source: ts.SourceFile, checker: ts.TypeChecker): Possible[] {
  const found: Possible[] = []
  const text = (node: ts.Node): string => node.getText(source)
  const add = (kind: Kind, node: ts.Node, after: string): void => {
    const start = node.getStart(source)
    const line = source.getLineAndCharacterOfPosition(start).line + 1
    const flags = { isStatic: isStatic(node), opensStatement: opensStatement(node, source) }
    found.push({ file, line, start, end: node.getEnd(), kind, before: text(node), after, ...flags })
  }
  const isNumber = (node: ts.Node): boolean =>
    (checker.getTypeAtLocation(node).flags & (ts.TypeFlags.NumberLike | ts.TypeFlags.BigIntLike)) !== 0

  const ofExpression = (node: ts.Node): void => {
    if (ts.isBinaryExpression(node)) {
      const operator = text(node.operatorToken)
      const [kind, other] = operators[operator] ?? []
      if (kind !== undefined && (kind !== 'arithmetic' || (isNumber(node.left) && isNumber(node.right))))
        add(kind, node, `${text(node.left)} ${other} ${text(node.right)}`)
      if (operator === '??') add('default', node, text(node.left))
    }
    if (ts.isPrefixUnaryExpression(node) && node.operator === ts.SyntaxKind.ExclamationToken)
      add('negate', node, text(node.operand))
    if (ts.isConditionalExpression(node)) add('negate', node.condition, `!(${text(node.condition)})`)
    if (ts.isNumericLiteral(node) && !ts.isPropertyName(node.parent)) {
      const value = Number(text(node).replaceAll('_', ''))
      if (Number.isSafeInteger(value)) add('constant', node, String(value >= 100 ? value * 2 : value + 1))
    }
  }

  const ofStatement = (node: ts.Node): void => {
    if (ts.isIfStatement(node)) {
      if (node.elseStatement === undefined) add('guard', node.expression, 'false')
      add('negate', node.expression, `!(${text(node.expression)})`)
    }
    if (ts.isExpressionStatement(node)) {
      const inner = ts.isAwaitExpression(node.expression) ? node.expression.expression : node.expression
      const isSuper = ts.isCallExpression(inner) && inner.expression.kind === ts.SyntaxKind.SuperKeyword
      if (ts.isCallExpression(inner) && !isSuper && !logging.test(nameOf(inner))) add('call', node, '')
    }
    const result = ts.isReturnStatement(node) ? node.expression : ts.isArrowFunction(node) ? node.body : undefined
    if (result === undefined || ts.isBlock(result)) return
    const other = otherResult(result)
    if (other !== undefined) add('return', result, other)
  }

  /** A wrong value of the same type, where the type has one. */
  const otherResult = (result: ts.Node): string | undefined => {
    const type = checker.getTypeAtLocation(result)
    const parts = type.isUnion() ? type.types : [type]
    const all = (flag: ts.TypeFlags): boolean => parts.every(({ flags }) => (flags & flag) !== 0)
    const some = (flag: ts.TypeFlags): boolean => parts.some(({ flags }) => (flags & flag) !== 0)
    const before = text(result)
    if (before.length > 1200 || /^(undefined|null|\[\])$/.test(before)) return undefined
    if (ts.isBinaryExpression(result) && text(result.operatorToken) in operators) return undefined
    if (all(ts.TypeFlags.BooleanLike)) return `!(${before})`
    if (some(ts.TypeFlags.Undefined)) return 'undefined'
    if (some(ts.TypeFlags.Null)) return 'null'
    if (all(ts.TypeFlags.NumberLike)) return `(${before}) + 1`
    if (all(ts.TypeFlags.StringLike) && !isSentence(before)) return "''"
    return parts.every((part) => checker.isArrayType(part)) ? '[]' : undefined
  }

  const ofCall = (call: ts.CallExpression): void => {
    const name = nameOf(call)
    const object = ts.isPropertyAccessExpression(call.expression) ? call.expression : undefined
    const without = (list: readonly ts.Node[], index: number): string =>
      list
        .filter((_, at) => at !== index)
        .map(text)
        .join(', ')
    if (object !== undefined && object.questionDotToken === undefined) {
      const receiver = text(object.expression)
      if (name === 'where' && call.arguments.length === 1) add('where', call, receiver)
      if (receiver === 'Math' && name in mathOpposites) add('rounding', call.expression, `Math.${mathOpposites[name]}`)
      if (/^(filter|toSorted|slice|trim|toLowerCase)$/.test(name)) add('list', call, receiver)
      if (/^(some|every)$/.test(name))
        add('list', call, `${receiver}.${name === 'some' ? 'every' : 'some'}(${call.arguments.map(text).join(', ')})`)
    }
    if (object === undefined && /^(and|or)$/.test(name) && call.arguments.length > 1)
      for (const index of call.arguments.keys()) add('condition', call, `${name}(${without(call.arguments, index)})`)
    if (object === undefined && name in opposites && isOfDrizzle(call.expression))
      add('drizzle', call, `drizzle.${opposites[name]}(${call.arguments.map(text).join(', ')})`)
    if (/^(values|set)$/.test(name) || writing.test(name))
      for (const fields of call.arguments)
        if (ts.isObjectLiteralExpression(fields) && fields.properties.length > 1)
          for (const index of fields.properties.keys()) add('field', fields, `{ ${without(fields.properties, index)} }`)
  }

  const isOfDrizzle = (name: ts.Node): boolean => {
    const symbol = checker.getSymbolAtLocation(name)
    const aliased = symbol && (symbol.flags & ts.SymbolFlags.Alias) !== 0 ? checker.getAliasedSymbol(symbol) : symbol
    return aliased?.declarations?.[0]?.getSourceFile().fileName.includes('drizzle-orm') === true
  }

  const ofSql = (node: ts.Node): void => {
    const isTagged = ts.isTaggedTemplateExpression(node) && text(node.tag).startsWith('sql')
    const isRaw =
      (ts.isStringLiteralLike(node) || ts.isTemplateExpression(node)) &&
      !ts.isTaggedTemplateExpression(node.parent) &&
      /\b(SELECT|UPDATE|DELETE|WHERE)\b/.test(text(node))
    if (!isTagged && !isRaw) return
    const before = text(node)
    for (const [pattern, replacement] of sqlRules)
      for (const { 0: match, index } of before.matchAll(pattern))
        if (!/\$\{[^}]*$/.test(before.slice(0, index)))
          add('sql', node, before.slice(0, index) + replacement + before.slice(index + match.length))
  }

  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node) || ts.isTypeNode(node) || ts.isTypeAliasDeclaration(node)) return
    const isLog = ts.isCallExpression(node) && logging.test(nameOf(node)) && !ts.isIdentifier(node.expression)
    // Texts for people may be reworded: tests assert codes and fields.
    if (isLog || (ts.isNewExpression(node) && nameOf(node).endsWith('Error'))) return
    ofExpression(node)
    ofStatement(node)
    if (ts.isCallExpression(node)) ofCall(node)
    ofSql(node)
    ts.forEachChild(node, visit)
  }
  visit(source)
  return found
}

const isSentence = (text: string): boolean => /[a-z]+ [a-z]+ [a-z]+/i.test(text)

function nameOf({ expression }: ts.CallExpression | ts.NewExpression): string {
  if (ts.isPropertyAccessExpression(expression)) return expression.name.text
  return ts.isIdentifier(expression) ? expression.text : ''
}

function isStatic(node: ts.Node): boolean {
  return ts.findAncestor(node, ts.isFunctionLike) === undefined
}

function opensStatement(node: ts.Node, source: ts.SourceFile): boolean {
  const statement = ts.findAncestor(node, ts.isExpressionStatement)
  if (statement === undefined || statement.getStart(source) !== node.getStart(source)) return false
  const { parent } = statement
  return ts.isBlock(parent) || ts.isSourceFile(parent) || ts.isCaseOrDefaultClause(parent)
}
