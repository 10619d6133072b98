const instantPattern =
  /^(\d{4})-(\d{2})-(\d{2})(?:T([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d)(?:\.(\d{1,9}))?)?(Z|[+-](?:0\d|1[0-4]):[0-5]\d))?$/
const isoPeriod = /^P(?:(\d{1,4})Y)?(?:(\d{1,4})M)?(?:(\d{1,4})W)?(?:(\d{1,4})D)?$/
const shortPeriod = /^(\d{1,4})\s*([ymwd])$/i

/**
 * Parses an ISO 8601 date (midnight UTC) or date and time with Z or an offset, seconds optional, to epoch milliseconds.
 * Undefined for anything else, for days that do not exist, and for times before 1970.
 */
export function parseInstant(text: string): number | undefined {
  const match = instantPattern.exec(text)
  if (!match) return undefined
  const [, year, month, day, hour = '00', minute = '00', second = '00', fraction = '', zone = 'Z'] = match
  const midnight = new Date(`${year}-${month}-${day}T00:00:00Z`)
  // V8 reads the 30th of February as the 2nd of March.
  if (Number.isNaN(midnight.getTime()) || midnight.getUTCDate() !== Number(day)) return undefined
  const at = Date.parse(
    `${year}-${month}-${day}T${hour}:${minute}:${second}.${fraction.padEnd(3, '0').slice(0, 3)}${zone}`
  )
  return Number.isNaN(at) || at < 0 ? undefined : at
}

/**
 * Parses the duration of a membership: `P1Y`, `P1M`, `P14D`, `P2W`, `P1Y6M`, or `1y`, `1m`, `2w`, `14d`. Returns an ISO
 * 8601 period in years, months and days, or undefined for anything else and for an empty period.
 */
export function parsePeriod(text: string): string | undefined {
  const short = shortPeriod.exec(text.trim())
  const match = isoPeriod.exec(short ? `P${short[1]}${short[2]?.toUpperCase()}` : text.trim())
  if (!match) return undefined
  const [years = 0, months = 0, weeks = 0, days = 0] = match.slice(1).map((part) => Number(part ?? 0))
  const parts: [number, string][] = [
    [years, 'Y'],
    [months, 'M'],
    [weeks * 7 + days, 'D']
  ]
  const period = parts.map(([count, unit]) => (count > 0 ? `${count}${unit}` : '')).join('')
  return period === '' ? undefined : `P${period}`
}
