export const roles = ['owner', 'orders', 'catalogue', 'reports'] as const
export type Role = (typeof roles)[number]

type Rule = {
  roles: readonly Role[]
  /** Moves money, changes settings or access, or takes data of people out or away: each time only with the passkey. */
  isGuarded?: true
}

const everyone = roles
const selling: readonly Role[] = ['owner', 'orders']
const owner: readonly Role[] = ['owner']

/** What each role of the desk may do. What is not here, nobody may. */
export const permissions = {
  today: { roles: everyone },
  'own.access': { roles: everyone },
  'own.passkey': { roles: everyone, isGuarded: true },
  sums: { roles: ['owner', 'reports'] },
  orders: { roles: selling },
  'orders.handle': { roles: selling },
  'orders.money': { roles: selling, isGuarded: true },
  products: { roles: everyone },
  'products.change': { roles: ['owner', 'catalogue'] },
  discounts: { roles: ['owner', 'orders', 'catalogue'] },
  'discounts.change': { roles: ['owner', 'catalogue'] },
  customers: { roles: selling },
  'customers.handle': { roles: selling },
  'customers.data': { roles: owner, isGuarded: true },
  giftCards: { roles: selling },
  /** Gives money away: the code of a card that is sent to another mailbox is as good as money. */
  'giftCards.change': { roles: selling, isGuarded: true },
  affiliates: { roles: owner },
  'affiliates.change': { roles: owner },
  'affiliates.money': { roles: owner, isGuarded: true },
  reports: { roles: ['owner', 'reports'] },
  'reports.archive': { roles: ['owner', 'reports'], isGuarded: true },
  settings: { roles: owner },
  'settings.change': { roles: owner, isGuarded: true },
  people: { roles: owner },
  'people.change': { roles: owner, isGuarded: true }
} as const satisfies Record<string, Rule>

export type Permission = keyof typeof permissions

/** Who uses the desk, as the shop knows it. */
export type Actor = {
  /** Null for a person with a shell on the machine ("shopstead desk open"). */
  readonly personId: number | null
  readonly role: Role
  /** Whether the person used a passkey for this very request. A person with a shell on the machine needs none. */
  readonly isProven: boolean
}

/** Whether the role of a person has a permission. */
export function isAllowed(actor: Actor, permission: Permission): boolean {
  const { roles: allowed }: Rule = permissions[permission]
  return allowed.includes(actor.role)
}

/** Whether a permission needs a use of the passkey first. */
export function needsProof(actor: Actor, permission: Permission): boolean {
  const { isGuarded }: Rule = permissions[permission]
  return isGuarded === true && !actor.isProven
}

/** The name of a person in the history of orders and in other records. */
export function actorName({ personId }: Actor): string {
  return personId === null ? 'operator' : `desk:${personId}`
}

/** The desk refused what a person asked for: their role has no permission, or they have to use their passkey first. */
export class DeskRefusal extends Error {
  override readonly name = 'DeskRefusal'
  readonly reason: 'role' | 'proof'

  constructor(reason: 'role' | 'proof', permission: Permission) {
    super(`The desk refused ${permission}: ${reason}.`)
    this.reason = reason
  }
}

/** @throws DeskRefusal when the role of the person has no permission */
export function requireRole(actor: Actor, permission: Permission): void {
  if (!isAllowed(actor, permission)) throw new DeskRefusal('role', permission)
}

/** @throws DeskRefusal when the role of the person has no permission, or a use of the passkey is needed first */
export function requirePermission(actor: Actor, permission: Permission): void {
  requireRole(actor, permission)
  if (needsProof(actor, permission)) throw new DeskRefusal('proof', permission)
}
