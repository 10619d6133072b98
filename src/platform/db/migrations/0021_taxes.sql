CREATE TABLE `order_taxes` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`order_id` integer NOT NULL,
	`name` text NOT NULL,
	`country` text NOT NULL,
	`region` text NOT NULL,
	`rate_millionths` integer NOT NULL,
	`base_minor` integer NOT NULL,
	`amount_minor` integer NOT NULL,
	FOREIGN KEY (`order_id`) REFERENCES `orders`(`id`) ON UPDATE no action ON DELETE no action,
	CONSTRAINT "order_taxes_base" CHECK("order_taxes"."base_minor" >= 0),
	CONSTRAINT "order_taxes_amount" CHECK("order_taxes"."amount_minor" >= 0)
) STRICT;
--> statement-breakpoint
CREATE INDEX `order_taxes_by_order` ON `order_taxes` (`order_id`,`id`);--> statement-breakpoint
CREATE TABLE `tax_rates` (
	`country` text NOT NULL,
	`region` text NOT NULL,
	`class` text NOT NULL,
	`name` text NOT NULL,
	`rate_millionths` integer NOT NULL,
	PRIMARY KEY(`country`, `region`, `class`),
	CONSTRAINT "tax_rates_class" CHECK("tax_rates"."class" IN ('standard', 'reduced', 'zero')),
	CONSTRAINT "tax_rates_rate" CHECK("tax_rates"."rate_millionths" BETWEEN 0 AND 1000000)
) STRICT;
--> statement-breakpoint
ALTER TABLE `order_items` ADD `list_price_minor` integer;--> statement-breakpoint
ALTER TABLE `orders` ADD `list_shipping_minor` integer;
