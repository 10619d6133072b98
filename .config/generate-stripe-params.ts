/**
 * Writes src/sandbox/http/stripe-params.json, the parameters that Stripe takes for each route of the sandbox, from the types
 * of the installed stripe-node. Usage: npm run sandbox:generate
 */
import { writeFileSync } from 'node:fs'
import { formatParams, stripeParams } from './stripe-params.ts'

writeFileSync('src/sandbox/http/stripe-params.json', formatParams(stripeParams()))
