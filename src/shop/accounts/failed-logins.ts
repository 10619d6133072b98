import { channel } from 'node:diagnostics_channel'

/** Publishes every wrong password, without saying whose; costs nothing without a subscriber. */
export const failedLogins = channel('shopstead:login-failed')
