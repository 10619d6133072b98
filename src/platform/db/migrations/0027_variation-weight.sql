DROP TRIGGER `variations_updated`;
--> statement-breakpoint
ALTER TABLE `variations` ADD `weight_grams` integer;
--> statement-breakpoint
CREATE TRIGGER `variations_updated` AFTER UPDATE OF sku, name, options, price_minor, sale_price_minor, gtin, weight_grams, is_default, position, available ON `variations` BEGIN UPDATE revisions SET value = value + 1 WHERE name = 'catalog'; END;
