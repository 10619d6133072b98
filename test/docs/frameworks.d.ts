/** What the Nuxt snippet uses; Nuxt imports it automatically from h3. */
declare function defineEventHandler<Result>(handler: (event: NuxtEvent) => Result): (event: NuxtEvent) => Result
declare function toWebRequest(event: NuxtEvent): Request
interface NuxtEvent {
  readonly path: string
}
