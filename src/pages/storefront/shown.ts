/** What a storefront page shows. */
export type Shown = { status?: number; template: string; title: string; data?: object }
