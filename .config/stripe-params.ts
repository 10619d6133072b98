import { createHash } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { routeNames } from '../src/sandbox/http/routes.ts'
import type { ParamTable, ParamType, Spec } from '../src/sandbox/http/stripe-params.ts'

/** The methods of stripe-node whose name does not follow from the route's name. */
const otherNames: Readonly<Record<string, string>> = {
  'checkout.sessions.line_items': 'checkout.sessions.listLineItems',
  'confirmation_tokens.create': 'testHelpers.confirmationTokens.create'
}

/** The parameters of every route of the sandbox, as stripe-node declares them. */
export function stripeParams(): ParamTable {
  const declarations = fileURLToPath(import.meta.resolve('stripe').replace(/\/[^/]*$/, '/stripe.core.d.ts'))
  const program = ts.createProgram([declarations], {
    strict: true,
    target: ts.ScriptTarget.ES2024,
    module: ts.ModuleKind.NodeNext,
    types: []
  })
  const reader = new ParamReader(program.getTypeChecker())
  const client = reader.clientType(program, declarations)
  const routes: Record<string, Spec> = {}
  for (const name of routeNames.toSorted()) routes[name] = reader.paramsOf(client, otherNames[name] ?? methodOf(name))
  const byName = [...reader.types].toSorted(([a], [b]) => (a < b ? -1 : 1))
  return { routes, types: Object.fromEntries(byName) }
}

/** The table as JSON with a line for each entry, so that a new route or a new version of Stripe is a small difference. */
export function formatParams({ routes, types }: ParamTable): string {
  const lines = (entries: object): string =>
    Object.entries(entries)
      .map(([name, value]) => `${JSON.stringify(name)}: ${JSON.stringify(value)}`)
      .join(',\n')
  return `{"routes": {\n${lines(routes)}\n},\n"types": {\n${lines(types)}\n}}\n`
}

class ParamReader {
  /** Named by their content, so that equal types are written once and a name stays when other types change. */
  readonly types = new Map<`#${string}`, ParamType>()
  private readonly checker: ts.TypeChecker

  constructor(checker: ts.TypeChecker) {
    this.checker = checker
  }

  clientType(program: ts.Program, file: string): ts.Type {
    const source = program.getSourceFile(file)
    const module = source && this.checker.getSymbolAtLocation(source)
    const found = module && this.checker.getExportsOfModule(module).find(({ name }) => name === 'Stripe')
    if (found === undefined) throw new Error(`${file} does not export Stripe.`)
    return this.checker.getDeclaredTypeOfSymbol(found)
  }

  /** The parameters of a method such as `checkout.sessions.create`. */
  paramsOf(client: ts.Type, path: string): Spec {
    const method = path.split('.').reduce((type, name) => this.propertyOf(type, name, path), client)
    for (const signature of method.getCallSignatures()) {
      for (const parameter of signature.getParameters()) {
        const type = this.checker.getTypeOfSymbol(parameter).getNonNullableType()
        if (type.symbol?.name.endsWith('Params')) return this.specOf(type, path)
      }
    }
    throw new Error(`stripe-node's method ${path} has no parameters.`)
  }

  private propertyOf(type: ts.Type, name: string, path: string): ts.Type {
    const property = type.getProperty(name)
    if (property === undefined) throw new Error(`stripe-node has no method ${path}; add its name to otherNames.`)
    return this.checker.getTypeOfSymbol(property)
  }

  private specOf(type: ts.Type, path: string): Spec {
    if (type.isUnion()) return this.unionOf(type.types, path)
    if (type.flags & ts.TypeFlags.String) return 'string'
    if (type.flags & ts.TypeFlags.Number) return 'number'
    if (type.flags & ts.TypeFlags.BooleanLike) return 'boolean'
    if (type.aliasSymbol?.name === 'Decimal') return 'number'
    if (type.isStringLiteral()) return this.shared({ choice: [type.value] })
    const [element] = this.checker.isArrayType(type) ? this.checker.getTypeArguments(type as ts.TypeReference) : []
    if (element !== undefined) return this.shared({ list: this.specOf(element, path) })
    const values = type.getStringIndexType()
    if (values !== undefined) return this.shared({ map: this.specOf(values, path) })
    if (type.isClassOrInterface() || type.getProperties().length > 0) return this.objectOf(type, path)
    throw new Error(`${path} has a type that the sandbox cannot check: ${this.checker.typeToString(type)}`)
  }

  private objectOf(type: ts.Type, path: string): Spec {
    const fields: Record<string, Spec> = {}
    const required: string[] = []
    for (const property of type.getProperties()) {
      const isOptional = (property.flags & ts.SymbolFlags.Optional) !== 0
      if (!isOptional) required.push(property.name)
      fields[property.name] = this.specOf(this.checker.getTypeOfSymbol(property), `${path}.${property.name}`)
    }
    if (path.endsWith('.payment_method_data')) this.addCardToken(fields)
    return this.shared(required.length === 0 ? { fields } : { fields, required })
  }

  /** Stripe takes `{type: card, card: {token}}`, but leaves it out of its types (github.com/stripe/stripe-node/issues/1310). */
  private addCardToken(fields: Record<string, Spec>): void {
    fields['card'] = this.shared({ fields: { token: 'string' }, required: ['token'] })
    fields['type'] = this.shared({ any: [this.shared({ choice: ['card'] }), fields['type'] ?? 'string'] })
  }

  /** Stripe's `OtherString` stands for values of later API versions, which the sandbox does not take. */
  private unionOf(types: readonly ts.Type[], path: string): Spec {
    const specs = new Map<string, Spec>()
    const choice: string[] = []
    const add = (spec: Spec): void => void specs.set(JSON.stringify(spec), spec)
    for (const type of types) {
      if (type.flags & ts.TypeFlags.Undefined || isOtherString(type)) continue
      if (type.flags & ts.TypeFlags.Null || (type.isStringLiteral() && type.value === '')) add('empty')
      else if (type.isStringLiteral()) choice.push(type.value)
      else add(this.specOf(type, path))
    }
    if (choice.length > 0) add(this.shared({ choice }))
    const [first, ...others] = specs.values()
    if (first === undefined) throw new Error(`${path} has an empty type.`)
    return others.length === 0 ? first : this.shared({ any: [first, ...others] })
  }

  private shared(type: ParamType): Spec {
    const json = JSON.stringify(type)
    const name = `#${createHash('sha256').update(json).digest('hex').slice(0, 6)}` as const
    const known = this.types.get(name)
    if (known !== undefined && JSON.stringify(known) !== json) throw new Error('Two types have the same name.')
    this.types.set(name, type)
    return name
  }
}

function isOtherString(type: ts.Type): boolean {
  return type.isIntersection() && type.types.some(({ flags }) => flags & ts.TypeFlags.String)
}

function methodOf(name: string): string {
  const camelCase = name.replaceAll(/_(\w)/g, (_match, letter: string) => letter.toUpperCase())
  return camelCase.replace(/\.delete$/, '.del')
}
