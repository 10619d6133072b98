/** A path of the route table or of the API description with 1 for each parameter, as a client would send it. */
export function filledPath(template: string): string {
  return template.replaceAll(/\{\w+\}/g, '1')
}
