import { AppError } from '../../errors.ts'
import { changeSetting, resetSetting } from '../../operations/change-setting.ts'
import { parseWith } from '../../platform/http/validation.ts'
import { toMinor } from '../../platform/money.ts'
import { emailTemplates } from '../../shop/mailer/compose.ts'
import { previewEmail } from '../../shop/mailer/preview.ts'
import { currentHoliday, endHoliday, startHoliday } from '../../shop/settings/holiday.ts'
import { listSettings, parseSettingKey, setting } from '../../shop/settings/settings.ts'
import type { SettingView } from '../../shop/settings/settings.ts'
import { changeZone, exportShipping, removeMethod, withMethod } from '../../shop/shipping/zones.ts'
import type { ZoneEntry } from '../../shop/shipping/zones.ts'
import { taxClasses, taxRate } from '../../shop/tax/input.ts'
import { listTaxRates, setTaxRate } from '../../shop/tax/rates.ts'
import { numberOrText } from '../../platform/input-fields.ts'
import type { PageReply } from '../page.ts'
import type { Field } from '../storefront/form-view.ts'
import { commandOf, page, shellWord, textFor, textOf } from './view.ts'
import type { Action, DeskCall, DeskPage, Item } from './view.ts'

/** Limits, addresses of pages and the like are for operators: the command line has them all. */
const technical = /^(?:limits|backup|events|desk|holiday|reports)\.|Url$|Origins$|Urls$|methodConfiguration$/

export const settingPages: readonly DeskPage[] = [
  { path: /^\/desk\/settings$/, name: '/desk/settings', needs: 'settings', show: showSettings },
  { path: /^\/desk\/shipping$/, name: '/desk/shipping', needs: 'settings', show: showShipping },
  { path: /^\/desk\/tax$/, name: '/desk/tax', needs: 'settings', show: showTax },
  { path: /^\/desk\/emails$/, name: '/desk/emails', needs: 'settings', show: showEmails },
  {
    path: /^\/desk\/emails\/([a-z_]{1,60})$/,
    name: '/desk/emails/order_receipt',
    needs: 'settings',
    show: showEmail
  }
]

const backToSettings = ({ words }: DeskCall) => ({ label: words.t('desk.settings'), url: '/desk/settings' })

function showSettings(call: DeskCall): PageReply {
  const { app, words, now } = call
  const { t } = words
  const shown = listSettings(app.db).filter(({ key }) => !technical.test(key))
  const groups = Map.groupBy(shown, ({ key }) => key.split('.')[0] ?? '')
  const holiday = currentHoliday(app.db, now)
  return page(call, {
    title: t('desk.settings'),
    back: { label: t('desk.everything'), url: '/desk/more' },
    blocks: [
      {
        kind: 'links',
        links: [
          { label: t(holiday === null ? 'desk.holiday' : 'desk.endHoliday'), url: '/desk/settings/holiday' },
          { label: t('desk.shipping'), url: '/desk/shipping' },
          { label: t('desk.law'), url: '/desk/law' },
          { label: t('desk.tax'), url: '/desk/tax' },
          { label: t('desk.emails'), url: '/desk/emails' }
        ]
      },
      ...[...groups].map(([group, views]) => ({
        kind: 'list' as const,
        title: textFor(call, 'desk.group', group),
        items: views.map((view) => settingItem(call, view)),
        empty: ''
      }))
    ],
    command: 'shopstead settings list'
  })
}

function settingItem({ words }: DeskCall, view: SettingView): Item {
  const value = valueText(view)
  return {
    name: view.key,
    url: `/desk/settings/${view.key}`,
    hints: [value === '' ? words.t('desk.nothing') : value, view.about]
  }
}

/** A value as an operator types it. */
function valueText({ value }: Pick<SettingView, 'value'>): string {
  if (Array.isArray(value)) return value.map(String).join(', ')
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function viewOf({ app, params }: DeskCall): SettingView {
  const key = parseSettingKey(params[0] ?? '')
  const view = listSettings(app.db).find((each) => each.key === key && !technical.test(key))
  if (view === undefined) throw new AppError('NOT_FOUND', 'This setting is not at the desk.')
  return view
}

function fieldOf({ words }: DeskCall, { type, value }: SettingView): Field {
  const field = { name: 'value', label: words.t('desk.value') }
  if (type === 'boolean') {
    const options = [
      { value: 'true', label: words.t('desk.yes') },
      { value: 'false', label: words.t('desk.no') }
    ]
    return { ...field, required: true, choose: words.t('desk.choose'), options }
  }
  if (type === 'list') return { ...field, hint: words.t('desk.listHint') }
  return typeof value === 'string' && value.length > 60 ? { ...field, type: 'long' } : field
}

function showShipping(call: DeskCall): PageReply {
  const { app, words } = call
  const { t } = words
  const currency = setting(app.db, 'shop.currency')
  const items = exportShipping(app.db, currency).flatMap((zone) =>
    zone.methods.map((method) => methodItem(call, zone, method))
  )
  return page(call, {
    title: t('desk.shipping'),
    back: backToSettings(call),
    blocks: [
      { kind: 'links', links: [{ label: t('desk.setMethod'), url: '/desk/shipping/set' }] },
      { kind: 'list', items, empty: t('desk.noShipping') }
    ],
    command: 'shopstead shipping list'
  })
}

function methodItem(
  { app, words, nonce }: DeskCall,
  { zone, countries }: ZoneEntry,
  { id, name, amount, freeFrom, estimate }: ZoneEntry['methods'][number]
): Item {
  const { t } = words
  const currency = setting(app.db, 'shop.currency')
  const money = (major: number | string): string => words.money(toMinor(major, currency), currency)
  return {
    name: `${name} (${zone}, ${id})`,
    amount: money(amount),
    hints: [
      countries === '*' ? t('desk.otherCountries') : [countries].flat().join(', '),
      ...(freeFrom === null ? [] : [t('desk.freeFrom', { amount: money(freeFrom) })]),
      ...(estimate === null ? [] : [estimate])
    ],
    action: { to: '/desk/shipping/remove', label: t('desk.remove'), hidden: { zone, method: id, nonce } }
  }
}

function showTax(call: DeskCall): PageReply {
  const { app, words } = call
  const { t } = words
  return page(call, {
    title: t('desk.tax'),
    back: backToSettings(call),
    blocks: [
      { kind: 'links', links: [{ label: t('desk.setRate'), url: '/desk/tax/set' }] },
      {
        kind: 'list',
        items: listTaxRates(app.db).map((rate) => ({
          name: [rate.country, rate.region, rate.class].filter(Boolean).join(' · '),
          amount: `${rate.ratePercent} %`,
          hints: rate.name === null ? [] : [rate.name]
        })),
        empty: t('desk.noTax')
      }
    ],
    command: 'shopstead tax list'
  })
}

function showEmails(call: DeskCall): PageReply {
  const { t } = call.words
  return page(call, {
    title: t('desk.emails'),
    back: backToSettings(call),
    blocks: [
      {
        kind: 'list',
        items: emailTemplates.map((name) => ({ name, url: `/desk/emails/${name}` })),
        empty: ''
      }
    ],
    command: 'shopstead mail preview --help'
  })
}

function showEmail(call: DeskCall): PageReply {
  const { app, params, now, words } = call
  const template = params[0] ?? ''
  const { subject, text, problems } = previewEmail(app, template, now)
  return page(call, {
    title: subject,
    back: { label: words.t('desk.emails'), url: '/desk/emails' },
    blocks: [
      ...problems.map(({ name, problem }) => ({ kind: 'text' as const, text: `${name}: ${problem}`, isNote: true })),
      { kind: 'code', text }
    ],
    command: `shopstead mail preview ${template}`
  })
}

export const settingActions: readonly Action[] = [
  {
    path: /^\/desk\/settings\/holiday$/,
    name: '/desk/settings/holiday',
    needs: 'settings.change',
    form: (call) => {
      const { t } = call.words
      const isOn = currentHoliday(call.app.db, call.now) !== null
      return {
        title: t(isOn ? 'desk.endHoliday' : 'desk.holiday'),
        text: t(isOn ? 'desk.endHolidayText' : 'desk.holidayText'),
        rows: isOn
          ? []
          : [
              [{ name: 'until', label: t('desk.lastDay'), type: 'date', required: true }],
              [{ name: 'message', label: t('desk.message'), type: 'long' }]
            ],
        submit: t(isOn ? 'desk.endHoliday' : 'desk.holiday'),
        back: backToSettings(call)
      }
    },
    version: ({ app, now }) => JSON.stringify(currentHoliday(app.db, now)),
    command: ({ app, now }, form) =>
      currentHoliday(app.db, now) === null
        ? commandOf('holiday start', { until: textOf(form, 'until') ?? 'DAY', message: textOf(form, 'message') })
        : 'shopstead holiday end',
    run: ({ app, now }, form) => {
      if (currentHoliday(app.db, now) === null)
        startHoliday(app.db, { until: textOf(form, 'until') ?? '', message: textOf(form, 'message') ?? '' }, now)
      else endHoliday(app.db)
      return '/desk/settings'
    }
  },
  {
    path: /^\/desk\/settings\/([a-z][a-zA-Z]*(?:\.[a-zA-Z_]+){1,3})$/,
    name: '/desk/settings/shop.name',
    needs: 'settings.change',
    form: (call) => {
      const view = viewOf(call)
      return {
        title: view.key,
        text: view.about,
        rows: [[fieldOf(call, view)], [{ name: 'reset', label: call.words.t('desk.reset'), type: 'tick' }]],
        known: { value: valueText(view) },
        submit: call.words.t('desk.save'),
        back: backToSettings(call)
      }
    },
    version: (call) => valueText(viewOf(call)),
    command: (call, form) =>
      form.has('reset')
        ? `shopstead settings unset ${viewOf(call).key}`
        : `shopstead settings set ${viewOf(call).key} ${shellWord(form.get('value') ?? valueText(viewOf(call)))}`,
    run: (call, form) => {
      const { key } = viewOf(call)
      if (form.has('reset')) resetSetting(call.app.db, key, call.now)
      else changeSetting(call.app.db, key, (form.get('value') ?? '').trim(), call.now)
      return '/desk/settings'
    }
  },
  {
    path: /^\/desk\/shipping\/set$/,
    name: '/desk/shipping/set',
    needs: 'settings.change',
    form: (call) => {
      const { t } = call.words
      return {
        title: t('desk.setMethod'),
        text: t('desk.setMethodText'),
        rows: [
          [
            { name: 'zone', label: t('desk.zone'), required: true },
            { name: 'countries', label: t('desk.countries'), hint: t('desk.countriesHint') }
          ],
          [
            { name: 'method', label: t('desk.methodId'), required: true, hint: t('desk.methodIdHint') },
            { name: 'name', label: t('desk.name') }
          ],
          [
            { name: 'amount', label: t('desk.price'), hint: t('desk.priceHint') },
            { name: 'freeFrom', label: t('desk.freeFromField'), hint: t('desk.priceHint') }
          ],
          [{ name: 'estimate', label: t('desk.estimate') }]
        ],
        submit: t('desk.save'),
        back: { label: t('desk.shipping'), url: '/desk/shipping' }
      }
    },
    command: (_call, form) =>
      commandOf(`shipping set ${shellWord(textOf(form, 'zone') ?? 'ZONE')}`, {
        countries: textOf(form, 'countries'),
        method: textOf(form, 'method') ?? 'METHOD',
        name: textOf(form, 'name'),
        amount: textOf(form, 'amount'),
        'free-from': textOf(form, 'freeFrom'),
        estimate: textOf(form, 'estimate')
      }),
    run: ({ app }, form) => {
      const countries = textOf(form, 'countries')
      const changes = {
        name: textOf(form, 'name'),
        amount: textOf(form, 'amount'),
        freeFrom: textOf(form, 'freeFrom'),
        estimate: textOf(form, 'estimate')
      }
      changeZone(app.db, textOf(form, 'zone') ?? '', (known) => ({
        ...known,
        ...(countries === undefined ? {} : { countries: countries === '*' ? '*' : countries.split(',') }),
        methods: withMethod(known.methods, textOf(form, 'method') ?? '', changes)
      }))
      return '/desk/shipping'
    }
  },
  {
    path: /^\/desk\/shipping\/remove$/,
    name: '/desk/shipping/remove',
    needs: 'settings.change',
    form: (call) => ({
      title: call.words.t('desk.remove'),
      rows: [
        [
          { name: 'zone', label: call.words.t('desk.zone'), required: true },
          { name: 'method', label: call.words.t('desk.methodId'), required: true }
        ]
      ],
      submit: call.words.t('desk.remove'),
      back: { label: call.words.t('desk.shipping'), url: '/desk/shipping' }
    }),
    confirm: ({ words }, form) =>
      words.t('desk.removeMethodSure', { zone: form.get('zone') ?? '', method: form.get('method') ?? '' }),
    command: (_call, form) =>
      commandOf(`shipping remove ${shellWord(textOf(form, 'zone') ?? 'ZONE')}`, { method: textOf(form, 'method') }),
    run: ({ app }, form) => {
      removeMethod(app.db, textOf(form, 'zone') ?? '', textOf(form, 'method') ?? '')
      return '/desk/shipping'
    }
  },
  {
    path: /^\/desk\/tax\/set$/,
    name: '/desk/tax/set',
    needs: 'settings.change',
    form: (call) => {
      const { t } = call.words
      return {
        title: t('desk.setRate'),
        text: t('desk.setRateText'),
        rows: [
          [
            { name: 'country', label: t('desk.country'), required: true, hint: t('desk.countryHint') },
            { name: 'region', label: t('desk.region') }
          ],
          [
            { name: 'ratePercent', label: t('desk.percent'), required: true },
            {
              name: 'class',
              label: t('desk.taxClass'),
              required: true,
              options: taxClasses.map((value) => ({ value, label: textFor(call, 'desk.taxClass', value) }))
            }
          ],
          [{ name: 'name', label: t('desk.name') }]
        ],
        known: { class: 'standard' },
        submit: t('desk.save'),
        back: { label: t('desk.tax'), url: '/desk/tax' }
      }
    },
    command: (_call, form) =>
      commandOf(`tax set ${shellWord(textOf(form, 'country') ?? 'COUNTRY')}`, {
        rate: textOf(form, 'ratePercent') ?? 'PERCENT',
        class: textOf(form, 'class'),
        region: textOf(form, 'region'),
        name: textOf(form, 'name')
      }),
    run: ({ app }, form) => {
      const input = {
        country: textOf(form, 'country') ?? '',
        region: textOf(form, 'region'),
        class: textOf(form, 'class') ?? 'standard',
        name: textOf(form, 'name'),
        ratePercent: numberOrText(textOf(form, 'ratePercent'))
      }
      setTaxRate(app.db, parseWith(taxRate, input))
      return '/desk/tax'
    }
  }
]
