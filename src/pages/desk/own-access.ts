import { AppError } from '../../errors.ts'
import { parseWith } from '../../platform/http/validation.ts'
import { emailKey } from '../../platform/text.ts'
import { listDeskLog } from '../../shop/desk/act.ts'
import { getPerson, invite, listPeople, personInput, removePerson } from '../../shop/desk/people.ts'
import { addPasskey, listPasskeys, newPasskeyRequest, removePasskey } from '../../shop/desk/passkeys.ts'
import { isAllowed, roles } from '../../shop/desk/roles.ts'
import { endSession, listDeskSessions } from '../../shop/desk/sessions.ts'
import { deskCookie } from './access.ts'
import { passkeyPage } from './sign-in.ts'
import type { PageReply } from '../page.ts'
import { page, pagesOf, shellWord, textFor, textOf } from './view.ts'
import type { Action, Block, DeskCall, DeskPage } from './view.ts'

/** The access of the person, and for an owner that of everybody. */
export const ownPages: readonly DeskPage[] = [
  { path: /^\/desk\/access$/, name: '/desk/access', needs: 'own.access', show: showAccess },
  { path: /^\/desk\/people\/log$/, name: '/desk/people/log', needs: 'people', show: showLog }
]

const perPage = 50

function showAccess(call: DeskCall): PageReply {
  const { app, visit, words, now, nonce } = call
  const { t } = words
  const { person, session } = visit
  const mine: Block[] =
    person === null
      ? [{ kind: 'text', text: t('desk.onMachine') }]
      : [
          {
            kind: 'facts',
            rows: [
              { label: t('email'), value: person.email },
              { label: t('desk.role'), value: t(`desk.role.${person.role}`) }
            ]
          },
          {
            kind: 'list',
            title: t('desk.passkeys'),
            items: listPasskeys(app.db, person.id).map(({ id, createdAt, lastUsedAt }, index) => ({
              name: t('desk.passkey', { number: index + 1 }),
              hints: [
                t('desk.madeOn', { time: words.time(Date.parse(createdAt)) }),
                ...(lastUsedAt === null ? [] : [t('desk.usedOn', { time: words.time(Date.parse(lastUsedAt)) })])
              ],
              action: { to: '/desk/access/passkey/remove', label: t('desk.remove'), hidden: { id, nonce } }
            })),
            empty: ''
          },
          { kind: 'links', links: [{ label: t('desk.addPasskey'), url: '/desk/access/passkey' }] },
          {
            kind: 'list',
            title: t('desk.sessions'),
            items: listDeskSessions(app.db, person.id, now).map(({ id, device, lastSeenAt }) => ({
              name: device,
              ...(id === session?.id ? { state: { label: t('desk.thisOne'), tone: 'good' as const } } : {}),
              hints: [t('desk.usedOn', { time: words.time(Date.parse(lastSeenAt)) })],
              action: { to: '/desk/access/end', label: t('logOut'), hidden: { id: String(id), nonce } }
            })),
            empty: ''
          }
        ]
  return page(call, {
    title: t('desk.access'),
    blocks: [...mine, ...peopleBlocks(call)],
    command: 'shopstead desk people'
  })
}

function peopleBlocks(call: DeskCall): Block[] {
  const { app, visit, words } = call
  const { t } = words
  if (!isAllowed(visit.actor, 'people')) return []
  return [
    {
      kind: 'list',
      title: t('desk.people'),
      items: listPeople(app.db).map(({ id, email, role, passkeys }) => ({
        name: email,
        hints: [t(`desk.role.${role}`), t('desk.passkeyCount', { count: passkeys })],
        ...(id === visit.person?.id ? {} : { url: `/desk/people/${id}/remove` })
      })),
      empty: t('desk.noPeople')
    },
    {
      kind: 'links',
      links: [
        { label: t('desk.invite'), url: '/desk/people/invite' },
        { label: t('desk.log'), url: '/desk/people/log' }
      ]
    }
  ]
}

function showLog(call: DeskCall): PageReply {
  const { app, words, query } = call
  const { t } = words
  const cursor = /^[1-9]\d{0,14}$/.exec(query.get('cursor') ?? '')?.[0]
  const entries = listDeskLog(app.db, { before: cursor === undefined ? undefined : Number(cursor), limit: perPage + 1 })
  const shown = entries.slice(0, perPage)
  const last = entries.length > perPage ? shown.at(-1) : undefined
  return page(call, {
    title: t('desk.log'),
    back: { label: t('desk.access'), url: '/desk/access' },
    blocks: [
      {
        kind: 'list',
        items: shown.map(({ at, who, subject, outcome }) => ({
          name: subject,
          state: { label: textFor(call, 'desk.outcome', outcome), tone: outcome === 'done' ? 'good' : 'wait' },
          hints: [`${who} · ${words.time(Date.parse(at))}`]
        })),
        empty: t('desk.noLog')
      },
      pagesOf(call, last === undefined ? null : String(last.id))
    ],
    command: 'shopstead desk log'
  })
}

/** An action without fields of its own, which a button of the page "access" sends. */
function buttonOf(
  path: RegExp,
  name: string,
  needs: Action['needs'],
  title: 'desk.remove' | 'logOut',
  run: Action['run']
): Action {
  return {
    path,
    name,
    needs,
    form: ({ words }) => ({
      title: words.t(title),
      rows: [],
      submit: words.t(title),
      back: { label: words.t('desk.access'), url: '/desk/access' }
    }),
    command: () => 'shopstead desk people',
    run
  }
}

/** The session of a person. @throws AppError CONFLICT on the machine itself, which has none */
function sessionOf({ visit, words }: DeskCall) {
  if (visit.session === null || visit.person === null) throw new AppError('CONFLICT', words.t('desk.onMachine'))
  return { session: visit.session, person: visit.person }
}

export const ownActions: readonly Action[] = [
  buttonOf(/^\/desk\/access\/end$/, '/desk/access/end', 'own.access', 'logOut', (call, form) => {
    const { session, person } = sessionOf(call)
    const id = Number(form.get('id'))
    endSession(call.app.db, { id, personId: person.id })
    return id === session.id ? { redirect: '/desk/login', setCookie: deskCookie(call.app, null) } : '/desk/access'
  }),
  buttonOf(
    /^\/desk\/access\/passkey\/remove$/,
    '/desk/access/passkey/remove',
    'own.passkey',
    'desk.remove',
    (call, form) => {
      removePasskey(call.app.db, sessionOf(call).person.id, form.get('id') ?? '')
      return '/desk/access'
    }
  ),
  {
    path: /^\/desk\/access\/passkey$/,
    name: '/desk/access/passkey',
    needs: 'own.passkey',
    form: ({ words }) => ({
      title: words.t('desk.addPasskey'),
      text: words.t('desk.addPasskeyText'),
      rows: [],
      submit: words.t('desk.addPasskey'),
      back: { label: words.t('desk.access'), url: '/desk/access' }
    }),
    // Its challenge is issued only to who has used a passkey.
    isFollowUp: (form) => form.has('made'),
    command: ({ visit }) =>
      `shopstead desk invite ${shellWord(visit.person?.email ?? 'EMAIL')} --role ${visit.actor.role}`,
    run: async (call, form) => {
      const enrolment = sessionOf(call)
      const { app, now, words, nonce, path } = call
      const made = form.get('made')
      if (made !== null) {
        await addPasskey(app, enrolment, form.get('credential') ?? '', call.visitor, now)
        return '/desk/access'
      }
      return passkeyPage(app, call.visit, path, {
        title: 'desk.addPasskey',
        text: words.t('desk.addPasskeyText'),
        to: path,
        use: 'create',
        options: newPasskeyRequest(app, enrolment, now),
        submit: 'desk.makePasskey',
        hidden: [
          ['made', '1'],
          ['nonce', nonce]
        ],
        cancel: '/desk/access'
      })
    }
  },
  {
    path: /^\/desk\/people\/invite$/,
    name: '/desk/people/invite',
    needs: 'people.change',
    form: ({ words }) => ({
      title: words.t('desk.invite'),
      text: words.t('desk.inviteText'),
      rows: [
        [{ name: 'email', label: words.t('email'), type: 'email', required: true }],
        [
          {
            name: 'role',
            label: words.t('desk.role'),
            required: true,
            choose: words.t('desk.choose'),
            options: roles.map((value) => ({ value, label: words.t(`desk.role.${value}`) }))
          }
        ]
      ],
      submit: words.t('desk.invite'),
      back: { label: words.t('desk.access'), url: '/desk/access' }
    }),
    command: (_call, form) =>
      `shopstead desk invite ${shellWord(textOf(form, 'email') ?? 'EMAIL')} --role ${shellWord(textOf(form, 'role') ?? 'orders')}`,
    run: ({ app, now, visit, words }, form) => {
      const input = parseWith(personInput, { email: form.get('email') ?? '', role: form.get('role') ?? '' })
      if (visit.person !== null && emailKey(input.email) === visit.person.emailKey && input.role !== 'owner')
        throw new AppError('CONFLICT', words.t('desk.ownRole'))
      invite(app, input, now)
      return '/desk/access'
    }
  },
  {
    path: /^\/desk\/people\/([1-9]\d{0,14})\/remove$/,
    name: '/desk/people/:id/remove',
    needs: 'people.change',
    form: ({ app, words, params }) => ({
      title: words.t('desk.removePerson'),
      text: words.t('desk.removePersonText', { email: getPerson(app.db, Number(params[0])).email }),
      rows: [],
      submit: words.t('desk.removePerson'),
      back: { label: words.t('desk.access'), url: '/desk/access' }
    }),
    command: ({ app, params }) => `shopstead desk remove ${shellWord(getPerson(app.db, Number(params[0])).email)}`,
    run: ({ app, params, now, visit, words }) => {
      if (Number(params[0]) === visit.person?.id) throw new AppError('CONFLICT', words.t('desk.ownRole'))
      removePerson(app.db, Number(params[0]), now)
      return '/desk/access'
    }
  }
]
