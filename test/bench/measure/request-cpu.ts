import { cpuSecondsOf } from './machine.ts'

/**
 * A request of which each one differs: `{n}` is a number from 1 to 9,999 at random, `{page}` one to 200, so that no cache
 * answers, and `{guest}` a number that no other request has. Each request with a body comes from another address, unless it
 * has its own.
 */
export type Question<Person extends string = string> = {
  path: string
  person?: Person
  body?: object
  address?: string
}

export type Asked<Person extends string = string> = { pid: number; url: string; cookieOf(person: Person): string }

/** How long one reading takes: requests before it, and the CPU time that the server must use for it. */
export type Effort = { warmUp: number; cpuSeconds: number }

let guests = 0

/** The server's CPU time for one request, in milliseconds. */
export async function cpuMsOf<Person extends string>(
  server: Asked<Person>,
  question: Question<Person>,
  { warmUp, cpuSeconds }: Effort
): Promise<number> {
  const { pid } = server
  for (let times = 0; times < warmUp; times += 1) await ask(server, question)
  const before = cpuSecondsOf(pid)
  let requests = 0
  // The kernel counts CPU time in steps of 10 ms.
  for (; cpuSecondsOf(pid) - before < cpuSeconds; requests += 1) await ask(server, question)
  return ((cpuSecondsOf(pid) - before) * 1_000) / requests
}

async function ask<Person extends string>(
  { url, cookieOf }: Asked<Person>,
  { path, person, body, address }: Question<Person>
): Promise<void> {
  guests += 1
  const filled = (text: string): string =>
    text.replaceAll('{n}', upTo(9_999)).replaceAll('{page}', upTo(200)).replaceAll('{guest}', String(guests))
  const from = address ?? `10.${(guests >> 16) & 255}.${(guests >> 8) & 255}.${guests & 255}`
  const headers = {
    ...(person === undefined ? {} : { cookie: cookieOf(person) }),
    ...(body === undefined ? {} : { 'content-type': 'application/json', 'x-forwarded-for': from })
  }
  const sent = body === undefined ? {} : { method: 'POST', body: filled(JSON.stringify(body)) }
  const response = await fetch(url + filled(path), { ...sent, headers })
  const text = await response.text()
  if (response.status !== 200 || text.includes('"payable":false'))
    throw new Error(`${path} answered ${response.status}: ${text.slice(0, 300)}`)
}

const upTo = (most: number): string => String(1 + Math.floor(Math.random() * most))
