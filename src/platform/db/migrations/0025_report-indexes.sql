DROP INDEX `order_items_by_order`;--> statement-breakpoint
CREATE INDEX `order_items_by_order` ON `order_items` (`order_id`,`id`,`product_id`,`variation_id`,`quantity`,`total_minor`);--> statement-breakpoint
CREATE INDEX `invoices_credited` ON `invoices` (`date`,`currency`,`total_minor`) WHERE kind = 'credit_note';--> statement-breakpoint
CREATE INDEX `orders_paid` ON `orders` (`paid_at`,`currency`,`subtotal_minor`,`discount_minor`,`shipping_minor`,`tax_minor`,`total_minor`,`refunded_minor`) WHERE paid_at IS NOT NULL;--> statement-breakpoint
CREATE INDEX `orders_by_time` ON `orders` (`created_at`,`id`);
