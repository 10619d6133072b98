import { AppError } from '../../errors.ts'
import type { Db } from '../../platform/db/database.ts'
import { toDecimalText } from '../../platform/money.ts'
import { addDays } from '../../platform/days.ts'
import { vatCode } from '../../platform/vat.ts'
import { toWindows1252 } from '../../platform/windows-1252.ts'
import { setting } from '../../shop/settings/settings.ts'
import { accountsOf, assertKeys } from './accounts.ts'
import type { Account, PostedRow, Posting } from './accounts.ts'
import type { Days } from './days.ts'

/**
 * The columns of a batch of postings (Buchungsstapel, version 13) with their names. Those after `t` are text, which is
 * quoted even when it is empty. Source: developer.datev.de/datev/platform/de/dtvf/formate/buchungsstapel
 */
const columns = [
  ['n', 'Umsatz (ohne Soll/Haben-Kz)'],
  ['t', 'Soll/Haben-Kennzeichen', 'WKZ Umsatz'],
  ['n', 'Kurs', 'Basis-Umsatz'],
  ['t', 'WKZ Basis-Umsatz'],
  ['n', 'Konto', 'Gegenkonto (ohne BU-Schlüssel)'],
  ['t', 'BU-Schlüssel'],
  ['n', 'Belegdatum'],
  ['t', 'Belegfeld 1', 'Belegfeld 2'],
  ['n', 'Skonto'],
  ['t', 'Buchungstext'],
  ['n', 'Postensperre'],
  ['t', 'Diverse Adressnummer'],
  ['n', 'Geschäftspartnerbank', 'Sachverhalt', 'Zinssperre'],
  ['t', 'Beleglink', ...numbered(8, 'Beleginfo - Art', 'Beleginfo - Inhalt')],
  ['t', 'KOST1 - Kostenstelle', 'KOST2 - Kostenstelle'],
  ['n', 'Kost-Menge'],
  ['t', 'EU-Land u. UStID (Bestimmung)'],
  ['n', 'EU-Steuersatz (Bestimmung)'],
  ['t', 'Abw. Versteuerungsart'],
  ['n', 'Sachverhalt L+L', 'Funktionsergänzung L+L'],
  ['n', 'BU 49 Hauptfunktionstyp', 'BU 49 Hauptfunktionsnummer', 'BU 49 Funktionsergänzung'],
  // The space is missing in the description, too.
  ['t', ...numbered(20, 'Zusatzinformation - Art', 'Zusatzinformation- Inhalt')],
  ['n', 'Stück', 'Gewicht', 'Zahlweise'],
  ['t', 'Forderungsart'],
  ['n', 'Veranlagungsjahr', 'Zugeordnete Fälligkeit', 'Skontotyp'],
  ['t', 'Auftragsnummer', 'Buchungstyp'],
  ['n', 'USt-Schlüssel (Anzahlungen)'],
  ['t', 'EU-Land (Anzahlungen)'],
  ['n', 'Sachverhalt L+L (Anzahlungen)', 'EU-Steuersatz (Anzahlungen)', 'Erlöskonto (Anzahlungen)'],
  ['t', 'Herkunft-Kz', 'Buchungs GUID'],
  ['n', 'KOST-Datum'],
  ['t', 'SEPA-Mandatsreferenz'],
  ['n', 'Skontosperre'],
  ['t', 'Gesellschaftername'],
  ['n', 'Beteiligtennummer'],
  ['t', 'Identifikationsnummer', 'Zeichnernummer'],
  ['n', 'Postensperre bis'],
  ['t', 'Bezeichnung SoBil-Sachverhalt'],
  ['n', 'Kennzeichen SoBil-Buchung', 'Festschreibung', 'Leistungsdatum', 'Datum Zuord. Steuerperiode', 'Fälligkeit'],
  ['t', 'Generalumkehr (GU)'],
  ['n', 'Steuersatz'],
  ['t', 'Land', 'Abrechnungsreferenz'],
  ['n', 'BVV-Position'],
  ['t', 'EU-Land u. UStID (Ursprung)'],
  ['n', 'EU-Steuersatz (Ursprung)', 'Abw. Skontokonto']
].flatMap(([type, ...names]) => names.map((name) => ({ name, isText: type === 't' })))

function numbered(count: number, ...names: string[]): string[] {
  return Array.from({ length: count }, (_, index) => names.map((name) => `${name} ${index + 1}`)).flat()
}

const text = (value: string): string => `"${value.replaceAll('"', '""').replaceAll(/\p{C}/gu, ' ')}"`
/** The first characters of a text, without breaking one. */
const cut = (value: string, most: number): string => Array.from(value).slice(0, most).join('')

/**
 * The journal as a batch of postings for DATEV (EXTF 700, category 21): the gross amount of each document and rate from the
 * account of the buyer to that of the sale, whose tax DATEV takes from the account or its tax key. The batch is not
 * finalised, so the adviser can change it. Its time of creation is the last day, so that the same days give the same bytes.
 *
 * @throws AppError CONFLICT for postings without an account, other currencies, and days of two fiscal years
 */
export function datevFile(db: Db, days: Days, rows: readonly PostedRow[]): Uint8Array {
  const foreign = rows.find(({ currency }) => currency !== 'EUR')
  if (foreign !== undefined)
    throw new AppError(
      'CONFLICT',
      `A batch for DATEV is in euros, and ${foreign.number} is in ${foreign.currency}. Use --csv alone.`
    )
  const { accountOf } = accountsOf(db)
  const keysOf = ({ postings, paidBy }: PostedRow) => [...postings.map(({ key }) => key), `payment-${paidBy}` as const]
  assertKeys('account', rows, keysOf, accountOf)
  const posted = rows.flatMap((row) => {
    const buyer = accountOf(`payment-${row.paidBy}`)
    return row.postings.flatMap((posting) => {
      const sale = accountOf(posting.key)
      return buyer === undefined || sale === undefined ? [] : [{ row, posting, buyer, sale }]
    })
  })
  const length = accountLength(posted.map(({ sale }) => sale.number))
  const lines = [headerOf(db, days, length), columns.map(({ name }) => name), ...posted.map(lineOf)]
  return toWindows1252(lines.map((fields) => `${fields.join(';')}\r\n`).join(''))
}

/** The number of digits of the accounts, which is the same for all of a shop. @throws AppError CONFLICT */
function accountLength(numbers: readonly string[]): number {
  const wrong = numbers.find((number) => !/^\d{4,8}$/.test(number))
  const lengths = new Set(numbers.map((number) => number.length))
  if (wrong !== undefined || lengths.size > 1)
    throw new AppError(
      'CONFLICT',
      `The accounts of sales in accounting.accounts need 4 to 8 digits for DATEV, all of them the same number: ${wrong ?? [...new Set(numbers)].join(', ')}.`
    )
  return [...lengths][0] ?? 4
}

function headerOf(db: Db, { from, to }: Days, length: number): string[] {
  const year = Number(from.slice(0, 4))
  const monthDay = setting(db, 'accounting.yearStart')
  const start = `${from.slice(5) < monthDay ? year - 1 : year}-${monthDay}`.padStart(10, '0')
  const next = `${Number(start.slice(0, 4)) + 1}-${monthDay}`.padStart(10, '0')
  if (to >= next)
    throw new AppError(
      'CONFLICT',
      `A batch for DATEV is of one fiscal year, and one ends on ${addDays(next, -1)} (accounting.yearStart).`
    )
  const day = (value: string): string => value.replaceAll('-', '')
  const chart = setting(db, 'accounting.chart')
  const batch = [text('EXTF'), '700', '21', text('Buchungsstapel'), '13']
  const origin = [`${day(to)}000000000`, '', text('RE'), text('Shopstead'), text('')]
  const adviser = [setting(db, 'accounting.consultant'), setting(db, 'accounting.client'), day(start), length].map(
    String
  )
  const content = [day(from), day(to), text(`Journal ${from}`), text(''), '1', '0', '0', text('EUR')]
  const rest = ['', text(''), '', '', text(chart === 'own' ? '' : chart.slice(-2)), '', '', text(''), text('')]
  return [...batch, ...origin, ...adviser, ...content, ...rest]
}

type Posted = { row: PostedRow; posting: Posting; buyer: Account; sale: Account }

function lineOf({ row, posting: { key, netMinor, taxMinor }, buyer, sale }: Posted): string[] {
  const { date, number, customer, vatId, country, category, rateMillionths, orderId, suppliedOn, seller } = row
  const grossMinor = netMinor + taxMinor
  const isOss = key === 'oss-goods' || key === 'oss-services'
  const isOwed = category === 'supply' || category === 'reverse_charge'
  const values: Readonly<Record<string, string>> = {
    'Umsatz (ohne Soll/Haben-Kz)': comma(toDecimalText(Math.abs(grossMinor), 'EUR')),
    'Soll/Haben-Kennzeichen': grossMinor < 0 ? 'H' : 'S',
    'WKZ Umsatz': 'EUR',
    Konto: buyer.number,
    'Gegenkonto (ohne BU-Schlüssel)': sale.number,
    'BU-Schlüssel': sale.taxKey,
    Belegdatum: `${date.slice(8)}${date.slice(5, 7)}`,
    // A number with a dot has a hyphen there, because the field takes no dots.
    'Belegfeld 1': cut(number.replaceAll('.', '-'), 36),
    Buchungstext: cut(customer ?? number, 60),
    'EU-Land u. UStID (Bestimmung)': isOss
      ? vatCode(country)
      : isOwed
        ? cut((vatId ?? '').replaceAll(/\W/g, ''), 15)
        : '',
    'EU-Steuersatz (Bestimmung)': isOss ? comma((rateMillionths / 10_000).toFixed(2).padStart(5, '0')) : '',
    'EU-Land u. UStID (Ursprung)': isOss ? cut(seller.vatId, 15) : '',
    'Zusatzinformation - Art 1': 'Leistungsdatum',
    'Zusatzinformation- Inhalt 1': suppliedOn,
    Auftragsnummer: String(orderId),
    Festschreibung: '0'
  }
  return columns.map(({ name, isText }) => (isText ? text(values[name] ?? '') : (values[name] ?? '')))
}

const comma = (decimals: string): string => decimals.replace('.', ',')
