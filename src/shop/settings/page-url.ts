import type { ShopContext } from '../context.ts'
import { setting } from './settings.ts'

export type AccountPage = 'emails.verifyUrl' | 'emails.resetUrl' | 'emails.newEmailUrl' | 'emails.undoEmailUrl'
type OrderPage = 'emails.orderUrl' | 'emails.payUrl'
type Place = Pick<ShopContext, 'db' | 'publicUrl'>

/** The address of a page for the token of an account's link, at the shop or at the site. */
export function accountPageUrl({ db, publicUrl }: Place, page: AccountPage, token: string): string {
  return setting(db, page).replaceAll('{publicUrl}', publicUrl()).replaceAll('{token}', token)
}

/** The address of a page for the token of an order, at the shop or at the site. */
export function orderPageUrl({ db, publicUrl }: Place, page: OrderPage, orderToken: string): string {
  return setting(db, page).replaceAll('{publicUrl}', publicUrl()).replaceAll('{orderToken}', orderToken)
}

/** The shop's page that opens an account for a guest's order. */
export function claimUrl({ publicUrl }: Pick<Place, 'publicUrl'>, token: string): string {
  return `${publicUrl()}/account/claim?token=${token}`
}

/** The shop's page that ends the subscription of a guest. */
export function endSubscriptionUrl({ publicUrl }: Pick<Place, 'publicUrl'>, token: string): string {
  return `${publicUrl()}/checkout/end-subscription?token=${token}`
}
