/** The content of a storefront page. */
export type Shown = { status?: number; template: string; title: string; data?: object }
