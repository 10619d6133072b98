import type { Random } from '../random.ts'

/** The address that requests claim to come from. */
export type ForgedSource =
  /** No claim. */
  | { as: 'direct' }
  /** One address, as a proxy reports it. */
  | { as: 'address'; address: string }
  /** A different IPv4 address for each request, or `count` of them in turn. */
  | { as: 'addresses'; count?: number }
  /** Any address of one IPv6 customer. */
  | { as: 'the /64'; prefix: string }
  /** Forged hops to the left of the address that the proxy adds. */
  | { as: 'left hops'; address: string }
  /** Every header that some servers trust. */
  | { as: 'headers' }

const addressHeaders = [
  'x-forwarded-for',
  'x-forwarded',
  'forwarded-for',
  'x-real-ip',
  'x-client-ip',
  'x-cluster-client-ip',
  'x-original-forwarded-for',
  'x-remote-addr',
  'x-remote-ip',
  'true-client-ip',
  'cf-connecting-ip',
  'fastly-client-ip',
  'client-ip',
  'via'
]

/** The headers of the request with this index. */
export function sourceHeaders(from: ForgedSource, index: number, random: Random): Record<string, string> {
  if (from.as === 'direct') return {}
  if (from.as === 'address') return { 'x-forwarded-for': from.address }
  if (from.as === 'addresses') return { 'x-forwarded-for': addressOf(index % (from.count ?? Infinity)) }
  if (from.as === 'the /64')
    return { 'x-forwarded-for': `${from.prefix}:${group(random)}:${group(random)}::${group(random)}` }
  if (from.as === 'left hops') return { 'x-forwarded-for': `${leftHops(index, random)}, ${from.address}` }
  const forged = randomAddress(random)
  return {
    ...Object.fromEntries(addressHeaders.map((name) => [name, forged])),
    forwarded: `for=${forged};proto=https;by=127.0.0.1`,
    'x-forwarded-host': `${index}.example`,
    'x-forwarded-proto': 'https'
  }
}

/** A different address for every index below 16 million. */
function addressOf(index: number): string {
  return `10.${(index >> 16) & 255}.${(index >> 8) & 255}.${index & 255}`
}

function leftHops(index: number, random: Random): string {
  const hops = [
    randomAddress(random),
    `${randomAddress(random)}, 127.0.0.1`,
    'unknown',
    '',
    `[2001:db8::${group(random)}]:443`
  ]
  return hops[index % hops.length] ?? ''
}

function randomAddress(random: Random): string {
  return [0, 0, 0, 0].map(() => random.between(1, 254)).join('.')
}

function group(random: Random): string {
  return random.between(0, 0xffff).toString(16)
}
