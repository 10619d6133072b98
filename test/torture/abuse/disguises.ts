import type { Random } from '../random.ts'

/** Where requests pretend to come from. */
export type Disguise =
  /** No word of it. */
  | { as: 'oneself' }
  /** One address, as a proxy would say. */
  | { as: 'address'; address: string }
  /** Another IPv4 address each time. */
  | { as: 'addresses' }
  /** Any of the addresses that one customer of an IPv6 provider has. */
  | { as: 'the /64'; prefix: string }
  /** Whatever the client writes to the left of what the proxy adds. */
  | { as: 'left hops'; address: string }
  /** Every header that some proxy somewhere is believed by. */
  | { as: 'headers' }

const believedElsewhere = [
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

/** The headers of the request with this number. */
export function disguise(from: Disguise, index: number, random: Random): Record<string, string> {
  if (from.as === 'oneself') return {}
  if (from.as === 'address') return { 'x-forwarded-for': from.address }
  if (from.as === 'addresses') return { 'x-forwarded-for': numbered(index) }
  if (from.as === 'the /64')
    return { 'x-forwarded-for': `${from.prefix}:${group(random)}:${group(random)}::${group(random)}` }
  if (from.as === 'left hops') return { 'x-forwarded-for': `${leftOf(index, random)}, ${from.address}` }
  const pretended = anywhere(random)
  return {
    ...Object.fromEntries(believedElsewhere.map((name) => [name, pretended])),
    forwarded: `for=${pretended};proto=https;by=127.0.0.1`,
    'x-forwarded-host': `${index}.example`,
    'x-forwarded-proto': 'https'
  }
}

/** Different for every number below 16 million. */
function numbered(index: number): string {
  return `10.${(index >> 16) & 255}.${(index >> 8) & 255}.${index & 255}`
}

function leftOf(index: number, random: Random): string {
  const hops = [anywhere(random), `${anywhere(random)}, 127.0.0.1`, 'unknown', '', `[2001:db8::${group(random)}]:443`]
  return hops[index % hops.length] ?? ''
}

function anywhere(random: Random): string {
  return [0, 0, 0, 0].map(() => random.between(1, 254)).join('.')
}

function group(random: Random): string {
  return random.between(0, 0xffff).toString(16)
}
