import type { App } from '../../app.ts'
import { euVatRates, isInEu } from '../../platform/vat.ts'
import { shipToCountries } from '../../shop/checkout/shipping.ts'
import { countDormant } from '../../shop/customers/retention.ts'
import { readOwnTexts, textFolder } from '../../shop/settings/own-texts.ts'
import { listOverrides, overrideFolder } from '../../shop/mailer/render.ts'
import { formatMoney } from '../../platform/money.ts'
import { shopDay } from '../../shop/settings/shop-days.ts'
import { crossBorderSales, crossBorderThresholdMinor } from '../../shop/invoices/cross-border.ts'
import { hasInvoices } from '../../shop/invoices/find.ts'
import { missingForEInvoices, missingOfSeller } from '../../shop/settings/seller.ts'
import { currentHoliday } from '../../shop/settings/holiday.ts'
import { followsEuLaw } from '../../shop/settings/law.ts'
import { lawFolder, lawLinks, lawPages, listLawFiles } from '../../shop/settings/law-pages.ts'
import { listModules, setting } from '../../shop/settings/settings.ts'
import { methodsOfCountry, zoneCountries } from '../../shop/shipping/zones.ts'
import { listTaxRates } from '../../shop/tax/rates.ts'
import { mayReverseCharge } from '../../shop/tax/terms.ts'
import { failed, ok, warning } from './check.ts'
import type { Check, Finding } from './check.ts'

/** Settings whose effect an operator may not expect. */
export const settingChecks: readonly Check[] = [
  {
    name: 'modules',
    run({ db }) {
      const off = listModules(db).filter((module) => !module.enabled)
      if (off.some(({ name }) => name === 'commerce'))
        return warning(
          'The commerce module is off: the shop sells nothing.',
          'Run "shopstead modules enable commerce" to sell again.'
        )
      return ok(off.length === 0 ? 'All modules are on.' : `Off: ${off.map((module) => module.name).join(', ')}.`)
    }
  },
  {
    name: 'selling',
    run({ db, clock }) {
      const holiday = currentHoliday(db, clock.now())
      if (holiday !== null) return ok(`The shop is on holiday until the end of ${holiday.until}: buyers cannot order.`)
      if (setting(db, 'checkout.enabled')) return ok('Buyers can order.')
      return warning(
        'checkout.enabled is false: buyers cannot order.',
        'Run "shopstead settings set checkout.enabled true" to sell again.'
      )
    }
  },
  { name: 'shipping', run: checkShipping },
  { name: 'law texts', run: checkLawTexts },
  {
    name: 'invoices',
    run({ db, config }) {
      const missing = missingOfSeller(db)
      const electronic = missingForEInvoices(db)
      if (missing.length === 0 || (config.env !== 'production' && !hasInvoices(db)))
        return ok(
          electronic.length === 0
            ? 'Invoices name the seller, also electronic ones.'
            : `Invoices name the seller. Electronic ones (XRechnung) also need ${electronic.join(', ')}.`
        )
      return warning(
        `Invoices do not name the seller as the law requires: ${missing.join(', ')} ${missing.length === 1 ? 'is' : 'are'} not set.`,
        `Run ${missing.map((key) => `"shopstead settings set ${key} ${key === 'shop.country' ? 'XX' : 'TEXT'}"`).join(', ')} ` +
          '(or shop.legal.vatId instead of the tax number). Invoices that are issued stay as they are.'
      )
    }
  },
  {
    name: 'privacy',
    run({ db }) {
      const [guests, dormant] = [setting(db, 'privacy.guestYears'), setting(db, 'privacy.dormantYears')]
      const when = (years: number): string => (years === 0 ? 'never' : `after ${years} years`)
      return ok(
        `Paid guest orders lose their buyer ${when(guests)}, accounts without use are erased ${when(dormant)}. ` +
          `${countDormant(db)} owners were told that their account will be erased.`
      )
    }
  },
  {
    name: 'passwords',
    run({ db }) {
      const length = setting(db, 'registration.passwordMinLength')
      if (length >= 15) return ok(`At least ${length} characters.`)
      return warning(
        `At least ${length} characters.`,
        'NIST SP 800-63B requires 15 without a second factor: "shopstead settings set registration.passwordMinLength 15".'
      )
    }
  }
]

/** A country that the operator lists but that no zone ships to is left out silently. */
function checkShipping({ db }: App): Finding {
  if (zoneCountries(db).length === 0) return ok('There are no shipping zones: shipping costs nothing.')
  const served = new Set(shipToCountries(db).filter((country) => (methodsOfCountry(db, country) ?? []).length > 0))
  const listed = setting(db, 'checkout.shipTo')
  const wanted = listed.length === 0 ? shipToCountries(db) : listed
  const missing = wanted.filter((country) => !served.has(country))
  if (missing.length === 0) return ok(`The shop ships to ${served.size} countries.`)
  const countries = missing.slice(0, 10).join(',')
  return warning(
    `No shipping method for ${missing.length > 10 ? `${missing.length} countries, such as ` : ''}${countries}: buyers there cannot order goods.`,
    `Run "shopstead shipping set Abroad --countries ${countries} --method parcel --name Parcel --amount 9.90" with your own costs, or leave them out of checkout.shipTo.`
  )
}

/** Texts that buyers cannot read, and those that EU law asks of a shop and that it does not have. */
function checkLawTexts(app: App): Finding {
  const { db, config } = app
  const files = listLawFiles(config.dataDir)
  const unread = files.flatMap(({ name, blanks, problem }) => {
    if (problem !== null) return [`${name} ${problem}`]
    return blanks.length === 0 ? [] : [`${name} has blanks: ${blanks.join('; ')}`]
  })
  if (unread.length > 0)
    return warning(
      `Buyers do not see these texts: ${unread.join('. ')}.`,
      `Correct them in ${lawFolder(config.dataDir)}. "shopstead law list" shows the result.`
    )
  const links = lawLinks(app)
  const missing = followsEuLaw(db) ? lawPages.filter((page) => !links.some((link) => link.page === page)) : []
  if (missing.length === 0)
    return ok(
      links.length === 0
        ? 'The shop has no texts of its own.'
        : `Buyers can read: ${links.map(({ page }) => page).join(', ')}.`
    )
  return warning(
    `The shop sells under EU law and has no page for: ${missing.join(', ')}.`,
    'Run "shopstead law init" and fill in the texts, or set storefront.termsUrl and the settings beside it to pages of your site.'
  )
}

const yearMs = 365 * 24 * 60 * 60_000

/** Whether the shop can compute its taxes, and how old the data behind its rates is. */
export const taxChecks: readonly Check[] = [
  {
    name: 'tax',
    run({ db, clock }) {
      const rates = listTaxRates(db)
      if (rates.length === 0) return ok('There are no tax rates: the shop charges no tax.')
      if (setting(db, 'shop.country') === '')
        return warning(
          'The country of the shop is not set: a cart without an address has no tax.',
          'Run "shopstead settings set shop.country XX" with the two letters of your country.'
        )
      const { source, releasedOn } = euVatRates()
      const isOld = clock.now() - Date.parse(releasedOn) > yearMs
      if (isOld && rates.some(({ country }) => isInEu(country)))
        return warning(
          `The VAT rates of "tax preset eu" are from ${releasedOn} (${source}), over a year ago.`,
          'Check the rates with "shopstead tax list", update Shopstead, and run "shopstead tax preset eu" again.'
        )
      return ok(`${rates.length} rates; those of the EU are known as of ${releasedOn}.`)
    }
  },
  { name: 'vat ids', run: checkVatIds },
  { name: 'sales abroad', run: checkThreshold }
]

/** VAT ids are public: without VIES, everybody can buy without tax by one of them. */
function checkVatIds({ db }: App): Finding {
  if (!mayReverseCharge(db)) return ok('No VAT id makes a sale of the shop tax-free.')
  if (setting(db, 'tax.vies') === 'off')
    return warning(
      'VAT ids are not confirmed: anyone who knows one of another member state of the EU buys without tax.',
      'Run "shopstead settings set tax.vies on".'
    )
  if (setting(db, 'shop.legal.vatId') !== '') return ok('VIES confirms the VAT ids of businesses that buy without tax.')
  return warning(
    'VIES gives no consultation numbers, which prove that the shop asked, because the shop has no VAT id.',
    'Run "shopstead settings set shop.legal.vatId ID" with the VAT id of the shop.'
  )
}

/** Below this part of the threshold, there is nothing to do yet. */
const nearThreshold = 0.8

/** A shop with its own rate for consumers abroad must change to theirs when its sales pass the threshold. */
function checkThreshold({ db, clock }: App): Finding {
  const year = Number(shopDay(db, clock.now()).slice(0, 4))
  const [before, current] = [crossBorderSales(db, year - 1), crossBorderSales(db, year)]
  const sold = `Consumers elsewhere in the EU bought for ${formatMoney(current, 'EUR')} this year and ${formatMoney(before, 'EUR')} last year, without tax`
  const limit = formatMoney(crossBorderThresholdMinor, 'EUR')
  if (setting(db, 'tax.crossBorder') !== 'own') return ok(`${sold}.`)
  const advice = `Above ${limit} a year they pay the rates of their own countries: run "shopstead tax preset eu", add reduced rates, and register for the One-Stop-Shop.`
  const most = Math.max(before, current)
  if (most > crossBorderThresholdMinor) return failed(`${sold}: more than ${limit}.`, advice)
  return most >= crossBorderThresholdMinor * nearThreshold
    ? warning(`${sold}: near the threshold of ${limit}.`, advice)
    : ok(`${sold}, below the threshold of ${limit}.`)
}

/** The operator's texts, and templates of emails. */
export const mailChecks: readonly Check[] = [
  {
    name: 'email templates',
    run({ config }) {
      const files = listOverrides(config.dataDir)
      const broken = files.flatMap(({ name, problem }) => (problem === null ? [] : `${name} ${problem}`))
      if (broken.length === 0)
        return ok(
          files.length === 0 ? 'All emails are those of Shopstead.' : `${files.length} files replace parts of emails.`
        )
      return warning(
        `Not used, so the shop sends its own text: ${broken.join('; ')}.`,
        `Correct it in ${overrideFolder(config.dataDir)}. "shopstead mail preview NAME" shows the result.`
      )
    }
  },
  {
    name: 'texts',
    run({ config }) {
      const { texts, problems } = readOwnTexts(config.dataDir)
      const files = Object.keys(texts).map((language) => `${language}.json`)
      if (problems.length === 0)
        return ok(files.length === 0 ? 'All texts are those of Shopstead.' : `${files.join(', ')} replaces texts.`)
      return failed(
        `Not used: ${problems.map(({ file, problem }) => `${file} ${problem}`).join('; ')}.`,
        `Correct it in ${textFolder(config.dataDir)}. Without that, the server does not start again.`
      )
    }
  }
]
