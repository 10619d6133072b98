import { describe, expect, it } from 'vitest'
import { refusalsOf } from '../../src/api/description/refusals.ts'
import type { Route } from '../../src/api/route.ts'
import { routes } from '../../src/api/routes.ts'
import { ShopCommand } from '../../src/cli/run.ts'
import { groups } from '../../src/cli/groups.ts'
import { AppError, errorCodes } from '../../src/errors.ts'
import { parseConfig } from '../../src/platform/config/config.ts'
import { readEnvFile } from '../../src/platform/config/env-file.ts'
import { problemCodes } from '../../src/shop/orders/shapes.ts'
import { mayMove, orderStatuses } from '../../src/shop/orders/states.ts'
import { definitions, settingKeys } from '../../src/shop/settings/definitions.ts'
import { optionalEmails } from '../../src/shop/settings/optional-emails.ts'
import { emailTemplates } from '../../src/shop/mailer/compose.ts'
import { eventTypes } from '../../src/shop/events/event-types.ts'
import { testTerminal } from '../support/command-line.ts'
import { column, readSections, rowsOf } from '../support/markdown.ts'
import type { TableRow } from '../support/markdown.ts'

const interfacePage = readSections('docs/interface.md')
const contractPage = readSections('docs/contract.md')
const sorted = (texts: Iterable<string>): string[] => [...texts].toSorted()

describe('the tables of docs/contract.md', () => {
  it('name every environment variable that the configuration reads, and no other', () => {
    const read = new Set<string>()
    const environment = new Proxy<Record<string, string>>(
      {},
      {
        get: (_target, name) => {
          read.add(String(name))
          return undefined
        }
      }
    )
    readEnvFile(environment, { folder: '/nowhere' })
    parseConfig(environment)
    expect(sorted(column(rowsOf(contractPage, 'A1'), 'Variable'))).toEqual(sorted(read))
  })

  it('give every setting with its type and its default', () => {
    const documented = rowsOf(contractPage, 'A2').map((row) => [row['Key'], row['Type'], parseDefault(row)])
    expect(documented).toEqual(settingKeys.map((key) => [key, definitions[key].type, definitions[key].default]))
  })

  it('name every bucket of a rate limit', () => {
    const buckets = settingKeys.flatMap((key) => (key.startsWith('limits.') ? key.slice('limits.'.length) : []))
    expect(sorted(column(rowsOf(contractPage, '3.8'), 'Bucket'))).toEqual(sorted(buckets))
  })

  it('give every error code with its statuses and its exit code', () => {
    const documented = rowsOf(contractPage, '2.7').map((row) => [row['Code'], row['HTTP status'], row['Exit code']])
    const known = errorCodes.map((code) => [code, statusesOf(code).join(', '), String(new AppError(code, '').exitCode)])
    expect(documented).toEqual(known)
  })

  it('name every event', () => {
    expect(sorted(column(rowsOf(contractPage, '9.1'), 'Event'))).toEqual(sorted(Object.keys(eventTypes)))
  })

  it('name every email, and those that emails.off switches off', () => {
    const documented = rowsOf(contractPage, '9.3')
    expect(column(documented, 'Template')).toEqual(emailTemplates)
    const optional = documented.filter((row) => row['Off'] === 'emails.off')
    expect(column(optional, 'Template')).toEqual(optionalEmails)
  })

  it('name every problem of a cart, in the order of the code', () => {
    expect(column(rowsOf(contractPage, '5.23'), 'Problem')).toEqual([...problemCodes])
  })

  it('name every move of an order', () => {
    const documented = rowsOf(contractPage, '5.13').map((row) => [row['From'], sorted(statusesIn(row['To'] ?? ''))])
    expect(Object.fromEntries(documented)).toEqual(
      Object.fromEntries(
        orderStatuses.map((from) => [from, sorted(orderStatuses.filter((to) => mayMove(from, to, true)))])
      )
    )
  })

  it('name every command with its subcommands', async () => {
    const documented = rowsOf(contractPage, '11.2').map((row) => [row['Command'], row['Subcommands']])
    expect(new Map(documented.map(([name, below]) => [name, below]))).toEqual(await commands())
  })
})

describe('docs/interface.md and docs/contract.md A5 together', () => {
  const documented = [...rowsOf(interfacePage, '4'), ...rowsOf(contractPage, 'A5')]

  it('name every endpoint of the route table once, and no other', () => {
    expect(sorted(documented.map(endpointOf))).toEqual(sorted(routes.map(endpointOf)))
  })

  it('say which endpoints require a nonce, at the proxy and at the service', () => {
    for (const row of rowsOf(interfacePage, '5')) {
      const route = routes.find((candidate) => endpointOf(candidate) === row['Endpoint'])
      const asked = [route?.proxy?.nonce === true ? 'yes' : 'no', route?.nonce]
      expect([row['Endpoint'], row['Proxy requires a nonce'], row['Service requires a nonce']]).toEqual([
        row['Endpoint'],
        ...asked
      ])
    }
    // A5: every other endpoint requires it, except the webhook and what a visitor reads below /store/.
    const beyond = new Set(rowsOf(contractPage, 'A5').map(endpointOf))
    const isOpen = (endpoint: string): boolean =>
      endpoint.startsWith('GET /store/') || endpoint === 'POST /webhooks/stripe'
    for (const route of routes.filter((candidate) => beyond.has(endpointOf(candidate)))) {
      const endpoint = endpointOf(route)
      expect([endpoint, route.proxy?.nonce !== true]).toEqual([endpoint, isOpen(endpoint)])
    }
  })

  it.each(routes.map((route) => [endpointOf(route), route] as const))('give the codes of %s', (endpoint, route) => {
    const own = documentedCodes(endpoint)
    const answered = refusals(route)
    expect(own.filter((refusal) => !answered.includes(refusal))).toEqual([])
    expect(answered.filter((refusal) => !own.includes(refusal) && !common.has(refusal))).toEqual([])
  })
})

function parseDefault(row: TableRow): unknown {
  return JSON.parse(row['Default'] ?? '')
}

/** The statuses that a code has in the answers of any endpoint, or by itself. */
function statusesOf(code: AppError['code']): number[] {
  const answered = routes.flatMap((route) =>
    [...refusalsOf(route)].flatMap(([status, codes]) => (codes.some((known) => known === code) ? status : []))
  )
  return [...new Set([...answered, new AppError(code, '').status])].toSorted((a, b) => a - b)
}

function statusesIn(text: string): string[] {
  return orderStatuses.filter((status) => new RegExp(`(^|[ ,])${status}\\b`).test(text))
}

async function commands(): Promise<Map<string, string>> {
  const named = groups.map(async ({ name, load }) => {
    const program = new ShopCommand(testTerminal().terminal)
    const { define } = await load()
    define(program)
    const below = program.commands.flatMap((command) => (command.name() === name ? command.commands : []))
    return [name, below.map((command) => command.name()).join(', ')] as const
  })
  return new Map(await Promise.all(named))
}

function endpointOf(row: Pick<Route, 'method' | 'path'> | TableRow): string {
  const { method, path } = 'method' in row ? row : { method: row['Method'], path: row['Path'] }
  return `${method} ${path}`
}

/** What a route answers beside its success, such as `404 AFFILIATE_NOT_FOUND`. */
function refusals(route: Route): string[] {
  return [...refusalsOf(route)].flatMap(([status, codes]) => codes.map((code) => `${status} ${code}`))
}

const common = new Set(rowsOf(interfacePage, '7.5').flatMap(toRefusals))

/** The codes that the pages name for one endpoint: its own section or rows in interface.md 7, or its row in A5. */
function documentedCodes(endpoint: string): string[] {
  const sections = interfacePage.filter(({ number }) => /^7\.[1-4]$/.test(number))
  const inInterface = sections.flatMap(({ title, rows }) =>
    rows.filter((row) => (row['Endpoint'] ?? title) === endpoint).flatMap(toRefusals)
  )
  const inContract = rowsOf(contractPage, 'A5')
    .filter((row) => endpointOf(row) === endpoint)
    .flatMap((row) => row['Errors']?.match(/\d{3} [A-Z_]+/g) ?? [])
  return [...inInterface, ...inContract]
}

function toRefusals(row: TableRow): string[] {
  return (row['Status'] ?? '').split(', ').map((status) => `${status} ${row['Code']}`)
}
