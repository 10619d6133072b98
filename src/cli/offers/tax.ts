import type { App } from '../../app.ts'
import { AppError, validationFailed } from '../../errors.ts'
import { askAndKeep, viesId } from '../../shop/tax/vat-checks.ts'
import { parseWith } from '../../platform/http/validation.ts'
import { countryName } from '../../platform/postal/countries.ts'
import { taxRate, taxRemoval } from '../../shop/tax/input.ts'
import { listTaxRates, presetEu, removeTaxRates, setTaxRate } from '../../shop/tax/rates.ts'
import type { TaxRateView } from '../../shop/tax/rates.ts'
import type { ShopCommand, Work } from '../run.ts'
import { numberOrText } from '../../platform/input-fields.ts'
import type { Answer } from '../terminal/output.ts'
import { addCommand, confirmOrRefuse, runs } from '../run.ts'
import { plain, table } from '../terminal/table.ts'
import type { Table } from '../terminal/table.ts'

type SetOptions = { rate: string; class: string; region?: string; name?: string }
type RemoveOptions = { class?: string; region?: string; yes?: boolean }

export function define(program: ShopCommand): void {
  const group = program.command('tax').description('tax rates and VAT ids')
  runs(addCommand(group, 'list', 'list the tax rates', 'tax list'), ({ app }) => {
    const rates = listTaxRates(app.db)
    return { json: { rates }, human: rates.length === 0 ? noRates : rateTable(rates) }
  })
  const set = addCommand(
    group,
    'set <country>',
    'set the tax rate of a country or of one of its regions; orders keep the tax that they have',
    'tax set US --region NY --rate 8.875 --name "Sales tax"'
  )
    .requiredOption('--rate <n>', 'the rate in percent, with at most four decimals')
    .option('--class <class>', 'the tax class of the products: standard, reduced or zero', 'standard')
    .option('--region <region>', 'a state or province, as addresses contain it; its rates replace those of the country')
    .option('--name <name>', 'what buyers read, such as VAT')
  runs(set, ({ app, options }: Work<SetOptions>, country: string) => {
    const { rate, class: taxClass, region, name } = options
    const input = parseWith(taxRate, { country, region, class: taxClass, name, ratePercent: numberOrText(rate) })
    const stored = setTaxRate(app.db, input)
    return { json: { rate: stored }, human: describe(stored) }
  })
  const remove = addCommand(
    group,
    'remove <country>',
    'remove the tax rates of a country, or only those of a region or a class',
    'tax remove US --region NY --yes'
  )
    .option('--class <class>', 'only the rate of this tax class')
    .option('--region <region>', 'only the rates of this state or province')
    .option('--yes', 'do not ask')
  runs(remove, async ({ app, options, terminal }: Work<RemoveOptions>, country: string) => {
    const { class: taxClass, region } = options
    const removal = parseWith(taxRemoval, { country, region, class: taxClass })
    await confirmOrRefuse(terminal, `Remove tax rates of ${countryName(removal.country)}?`, options)
    const removed = removeTaxRates(app.db, removal)
    return { json: { removed }, human: removed.map((rate) => `Removed: ${describe(rate)}`) }
  })
  const check = addCommand(
    group,
    'check-id <id>',
    'ask VIES whether a VAT id is registered',
    'tax check-id ATU12345675'
  )
  runs(check, ({ app }, id: string) => checkId(app, id))
  const preset = addCommand(
    group.command('preset').description('sets of tax rates'),
    'eu',
    'set the standard VAT rate of each member state of the EU; other rates stay',
    'tax preset eu'
  ).option('--own-rate', 'the rate of shop.country everywhere, for a shop below the threshold of the EU')
  runs(preset, ({ app, options, now }: Work<{ ownRate?: boolean }>): Answer => {
    const { rates, source, releasedOn } = presetEu(app.db, { ownRate: options.ownRate === true }, now)
    return {
      json: { rates, source, releasedOn },
      human: [
        rateTable(rates),
        `From ${source}, released on ${releasedOn}. Check the rates of the countries that you sell to.`,
        ...(options.ownRate === true ? [ownRateText] : []),
        'These are standard rates. Add reduced rates with "shopstead tax set COUNTRY --class reduced --rate N".'
      ]
    }
  })
}

/** @throws AppError VALIDATION_FAILED for what is not a VAT id, DEPENDENCY_UNAVAILABLE if VIES does not answer */
async function checkId(app: App, text: string): Promise<Answer> {
  const vatId = viesId(text)
  if (vatId === undefined)
    throw validationFailed({ id: ['Must be a VAT id of the EU or of Northern Ireland, such as ATU12345675.'] })
  const answer = await askAndKeep(app, vatId)
  if (answer.outcome === 'unavailable')
    throw new AppError(
      'DEPENDENCY_UNAVAILABLE',
      `VIES did not answer about ${vatId}: ${answer.reason}. Try again later.`
    )
  const { outcome, name, address, consultation } = answer
  return {
    json: { vatId, outcome, name, address, consultation },
    human: [
      `${vatId} is ${outcome === 'confirmed' ? 'registered' : 'not registered'}.`,
      ...(name === null ? [] : [plain(`Name: ${name}`)]),
      ...(address === null ? [] : [plain(`Address: ${address.replaceAll(/\s+/g, ' ')}`)]),
      consultation === null
        ? 'VIES gave no consultation number: set shop.legal.vatId to get one.'
        : plain(`Consultation number: ${consultation}`)
    ]
  }
}

const ownRateText =
  'Consumers in the other member states pay the rates of your country (tax.crossBorder is own). "shopstead health" warns when their orders come near the threshold of EUR 10,000 a year.'

const noRates = 'There are no tax rates. Add them with "shopstead tax set" or "shopstead tax preset eu".'

function rateTable(rates: readonly TaxRateView[]): Table {
  const rows = rates.map(({ country, region, class: taxClass, ratePercent, name }) => [
    `${country} ${countryName(country)}`,
    region ?? '',
    taxClass,
    `${ratePercent} %`,
    name
  ])
  return table(['Country', 'Region', 'Class', 'Rate', 'Name'], rows)
}

function describe({ country, region, class: taxClass, ratePercent, name }: TaxRateView): string {
  const where = region === undefined ? countryName(country) : `${countryName(country)}, ${region}`
  return `${where}: ${ratePercent} % ${name} (${taxClass})`
}
