DROP TRIGGER `variations_updated`;
--> statement-breakpoint
DROP TRIGGER `products_updated`;
--> statement-breakpoint
ALTER TABLE `products` ADD `sku` text;--> statement-breakpoint
ALTER TABLE `products` ADD `description_html` text;--> statement-breakpoint
ALTER TABLE `products` ADD `length_mm` integer;--> statement-breakpoint
ALTER TABLE `products` ADD `width_mm` integer;--> statement-breakpoint
ALTER TABLE `products` ADD `height_mm` integer;--> statement-breakpoint
ALTER TABLE `products` ADD `brand` text;--> statement-breakpoint
ALTER TABLE `products` ADD `gtin` text;--> statement-breakpoint
ALTER TABLE `products` ADD `seo_title` text;--> statement-breakpoint
ALTER TABLE `products` ADD `seo_description` text;--> statement-breakpoint
CREATE INDEX `products_sku` ON `products` (`sku`);--> statement-breakpoint
ALTER TABLE `variations` ADD `gtin` text;
--> statement-breakpoint
CREATE TRIGGER `products_updated` AFTER UPDATE OF slug, name, sku, description, description_html, url, type, price_minor, sale_price_minor, sale_starts_at, sale_ends_at, published, position, weight_grams, length_mm, width_mm, height_mm, brand, gtin, seo_title, seo_description, updated_at ON `products` BEGIN UPDATE revisions SET value = value + 1 WHERE name = 'catalog'; END;
--> statement-breakpoint
CREATE TRIGGER `variations_updated` AFTER UPDATE OF sku, name, options, price_minor, sale_price_minor, gtin, is_default, position, available ON `variations` BEGIN UPDATE revisions SET value = value + 1 WHERE name = 'catalog'; END;
